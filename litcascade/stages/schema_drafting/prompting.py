"""The two prompts of schema development, and what they say of the kinds of fields."""

from importlib import resources

from litcascade.schemas import Prompt

KINDS = {
    "closed": "one of a few values",
    "multi": "any of a few values",
    "ordinal": "one of a few ordered values",
    "number": "a number",
    "date": "a date",
    "open": "free text",
    "group": "a list of rows, such as arms or outcomes",
}


def load(name: str) -> Prompt:
    """The prompt `report` (of a draft) or `collaborator` (of proposals) in its two parts."""
    text = (resources.files("litcascade.stages.schema_drafting") / "prompts" / f"{name}.md").read_text(encoding="utf-8")
    system, _, user = text.removeprefix("# System\n").partition("\n# User\n")
    return Prompt(name=name, system=system.strip(), user=user.strip())


def kinds_words() -> str:
    """The kinds of fields in a line."""
    return ", ".join(f"{kind} ({words})" for kind, words in KINDS.items())
