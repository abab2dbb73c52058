"""Worked examples in a prompt: as turns before a record, or as a part of the system text before a report."""

from collections.abc import Sequence

from litcascade.schemas import Reader, Shot
from litcascade.stages.prompt import fence


def rationale_of(shot: Shot) -> str:
    """Why a person decided so: the passage, marked as material, and the sentence; empty without a rationale."""
    parts = [fence(shot.quote, "quote")] if shot.quote else []
    return "\n".join([*parts, shot.reasoning] if shot.reasoning else parts)


def label_of(reader: Reader, shot: Shot) -> str:
    """The reader's own word for the decision of an example."""
    return reader.include_label if shot.decision == "include" else reader.exclude_label


def answer_of(reader: Reader, shot: Shot) -> str:
    """What the model is shown as its own earlier answer: the label, after the reasons where it writes first."""
    why = rationale_of(shot) if reader.style == "free" else ""
    return f"{why}\nDecision: {label_of(reader, shot)}" if why else label_of(reader, shot)


def examples_block(reader: Reader, shots: Sequence[Shot]) -> str:
    """Examples for a reader of reports: title, abstract, decision and reasons; whole reports would leave no room."""
    if not shots:
        return ""
    told = ["Examples of decisions that people made for this review (title and abstract stand for the whole report):"]
    for number, shot in enumerate(shots, start=1):
        lines = [f"Example {number}:", fence(shot.title or "(no title)", "title")]
        lines += [fence(shot.abstract, "abstract")] if shot.abstract else []
        why = rationale_of(shot)
        lines += [f"Reasons:\n{why}"] if why else []
        told.append("\n".join([*lines, f"Decision: {label_of(reader, shot)}"]))
    return "\n\n".join(told)
