"""One model call: what is asked (`Request`), and what came back (`Reply`)."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from litcascade.schemas.keys import Frozen, digest


class ModelRef(Frozen):
    """A model one can ask again: its name, its revision (commit or hash), the engine that runs it with version."""

    name: str
    revision: str = ""
    engine: str = ""

    def __str__(self) -> str:
        return f"{self.name}@{self.revision[:12]}" if self.revision else self.name


class Message(Frozen):
    """One turn of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class TextShape(Frozen):
    """The answer is free text."""

    kind: Literal["text"] = "text"


class LabelShape(Frozen):
    """The answer is exactly one of `labels`; the engine is asked to enforce it."""

    kind: Literal["labels"] = "labels"
    labels: tuple[str, ...]


class JsonShape(Frozen):
    """The answer is a JSON object of this JSON schema; the engine is asked to enforce it."""

    kind: Literal["json"] = "json"
    name: str
    json_schema: dict[str, Any]


Shape = Annotated[TextShape | LabelShape | JsonShape, Field(discriminator="kind")]


class Sampling(Frozen):
    """How the model draws its answer; `top_logprobs` > 0 asks for log-probabilities of the first tokens."""

    temperature: float = 0.0
    max_tokens: int = 16
    seed: int | None = None
    top_logprobs: int = 0


class Request(Frozen):
    """The next question to a model.

    `key` covers everything that is sent, model, revision and engine included, so that one model's reply never
    answers for another. `purpose` is for people (ask, repair, refine) and is not part of the key.
    """

    model: ModelRef
    messages: tuple[Message, ...]
    shape: Shape = TextShape()
    sampling: Sampling = Sampling()
    purpose: str = "ask"
    via: str = ""

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits of all that is sent."""
        return digest(
            [
                [self.model.name, self.model.revision, self.model.engine],
                [[message.role, message.content] for message in self.messages],
                self.shape.model_dump(mode="json"),
                self.sampling.model_dump(mode="json"),
            ]
        )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with a key of its own: the cached one belongs to what the original sends."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("key", None)
        return copied


class TokenLogprobs(Frozen):
    """The alternatives at one position of the answer: (token, natural log of its probability), best first."""

    token: str
    top: tuple[tuple[str, float], ...]


class Reply(Frozen):
    """What an engine gave back, kept as it came.

    `text` None: the engine gave no content. `refused` holds the engine's words where it would not take the
    request at all (HTTP 400: too long, no chat template). Tokens are None where the engine does not tell.
    """

    key: str
    text: str | None
    reasoning: str | None = None
    finish_reason: str | None = None
    refused: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    logprobs: tuple[TokenLogprobs, ...] = ()
    raw: str = ""


class Turn(Frozen):
    """A request and its reply."""

    request: Request
    reply: Reply
