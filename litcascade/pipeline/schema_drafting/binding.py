"""The reader that drafts or proposes, with its prompt, and what its words rest on."""

from collections.abc import Sequence
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.registry import nearest
from litcascade.schemas import FieldSpec, ModelRef, Reader, digest
from litcascade.schemas.fields import schema_hash
from litcascade.stages.schema_drafting.prompting import load

FOLDER = "schema"


def model_of(review: Review, name: str) -> str:
    """The declared model of the reader that is to be asked; an unknown reader or a person is an `InputError`."""
    readers = review.protocol.readers
    if name not in readers:
        raise InputError(f"there is no reader '{name}' in review.toml{nearest(name, readers)}")
    model = readers[name].model
    if model is None:
        raise InputError(f"reader '{name}' is a person; schemas are drafted by a model and decided by people")
    return model


def schema_reader(review: Review, name: str, model: ModelRef, prompt: str) -> Reader:
    """The reader with its model and one of the two prompts of schema development; its own prompt and examples are not used."""
    spec = review.protocol.readers[name]
    return Reader(
        name=name, model=model, via=str(spec.model), style="free", prompt=load(prompt), temperature=spec.temperature,
        seed=spec.seed, max_tokens=spec.max_tokens or 1, context=review.protocol.models[str(spec.model)].context,
    )  # fmt: skip


def fingerprint(kind: str, review: Review, reader: Reader, goals: str, version: int, schema: Sequence[FieldSpec] = ()) -> str:
    """What a report or a pass rests on beside its texts: step, goals, question, notes, schema so far, and the reader."""
    asked = [version, goals, review.protocol.review.question, review.protocol.review.notes]
    return f"{kind}:{digest([*asked, schema_hash(tuple(schema)), reader.model_dump(mode='json', exclude={'name', 'via'})])}"


def read_goals(told: str) -> str:
    """The goals themselves, or the text of the file that is named."""
    text = told.strip()
    short = 0 < len(text) < 300 and "\n" not in text
    path = Path(text)
    if short and path.is_file():
        try:
            text = path.read_text(encoding="utf-8-sig").strip()
        except UnicodeDecodeError:
            raise InputError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    elif short and path.suffix.lower() in (".md", ".txt"):
        raise InputError(f"{path}: there is no such file; name the file of the goals, or give them as a text")
    if not text:
        raise InputError("the goals are empty; say in a few sentences what you want to learn from the papers")
    return text
