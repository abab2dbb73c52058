"""Recorded replies: a published run again, without any model; and the form in which replies are exported."""

import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from litcascade.backends.base import BACKENDS, Came
from litcascade.errors import BackendError, InputError
from litcascade.schemas import ModelRef, ModelSpec, Reply, Request


@dataclass
class Recording:
    """Replies by request key, the model they came from, and the lines that held no reply (torn, failed, empty)."""

    replies: dict[str, Reply] = field(default_factory=dict)
    models: dict[tuple[str, str, str], int] = field(default_factory=dict)
    set_aside: list[tuple[int, str]] = field(default_factory=list)


def write_recording(rows: Iterable[tuple[ModelRef, Reply]]) -> Iterable[str]:
    """One JSON line a reply."""
    for model, reply in rows:
        yield (json.dumps({"model": model.model_dump(), "reply": reply.model_dump(mode="json")}, ensure_ascii=False) + "\n")


def read_recording(path: Path) -> Recording:
    """Read recorded replies; a line counts only where it is whole and holds text or the engine's refusal.

    A torn line, an error or an empty reply is set aside: its request is asked again, never taken for an answer.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file of recorded replies")
    recording = Recording()
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                content: dict[str, Any] = json.loads(line)
                reply = Reply.model_validate(content["reply"])
                model = ModelRef.model_validate(content["model"])
            except (ValueError, KeyError, TypeError, ValidationError) as error:
                recording.set_aside.append((number, f"no whole reply ({type(error).__name__})"))
                continue
            if reply.refused is None and not (reply.text or "").strip():
                recording.set_aside.append((number, "an empty reply"))
                continue
            recording.replies.setdefault(reply.key, reply)
            recording.models[(model.name, model.revision, model.engine)] = number
    if not recording.replies:
        raise InputError(f"{path}: holds no whole reply")
    return recording


class RecordedBackend:
    """Answers from a recording; what was not recorded gets no reply, and its record stays pending."""

    def __init__(self, name: str, spec: ModelSpec, path: Path) -> None:
        self.name = name
        self.spec = spec
        self.recording = read_recording(path)
        mine = [
            m for m in self.recording.models
            if (not spec.model or m[0] == spec.model) and m[1].startswith(spec.revision.removeprefix("sha256:"))
        ]  # fmt: skip
        names = sorted({m[0] for m in mine})
        if len(names) != 1:
            known = ", ".join(sorted({m[0] for m in self.recording.models}))
            raise InputError(f"{path}: holds replies of {known}; name one as model (and revision) under [models.{name}]")
        self.model = max(mine, key=lambda m: self.recording.models[m])  # the newest revision and engine of that name

    async def engine(self) -> str:
        """The engine that gave the replies when they were recorded."""
        return self.model[2]

    async def revision(self) -> str:
        """The revision that was recorded."""
        return self.model[1]

    async def ask(self, requests: Sequence[Request]) -> AsyncGenerator[Came, None]:
        """Look every request up by its key."""
        for request in requests:
            reply = self.recording.replies.get(request.key)
            yield request.key, reply or BackendError("this request was not recorded")

    async def count(self, texts: Sequence[str]) -> list[int] | None:
        """A recording cannot count."""
        return None

    def hold(self) -> None:
        """Nothing is on its way."""

    async def close(self) -> None:
        """Nothing to close."""


@BACKENDS.register("recorded")
def make_recorded(name: str, spec: ModelSpec, folder: Path) -> RecordedBackend:
    """The backend for `backend = "recorded"`; the file is named from the protocol's folder."""
    return RecordedBackend(name, spec, folder / str(spec.file))
