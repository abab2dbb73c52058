"""Criteria in a question framework (PICO, PIF, …), as JSON files beside some sets, turned into plain text."""

from pathlib import Path
from typing import Any

from litcascade.corpora.sets.corpus import Review
from litcascade.corpora.sets.tables import filled, read_object


def read_framework(path: Path, name: str) -> Review | None:
    """The review that the file describes; None where there is no such file."""
    if not path.is_file():
        return None
    found, _ = read_object(path)
    question = found.get("research_question")
    return Review(name, question=filled(question) if isinstance(question, str) else None, criteria=_criteria(found))


def by_machine(path: Path) -> bool:
    """Whether the file says that models wrote its criteria down from another text."""
    return path.is_file() and "_extraction_provenance" in read_object(path)[0]


def _criteria(found: dict[str, Any]) -> str | None:
    elements = found.get("elements")
    blocks = [_element(key, value) for key, value in elements.items()] if isinstance(elements, dict) else []
    blocks.append(_listed("Study design", found.get("study_design_include"), found.get("study_design_exclude")))
    limits = [("Language", "language_restriction"), ("Published from", "date_from"), ("Published until", "date_to")]
    blocks += [f"{words}: {found[key]}" for words, key in limits if found.get(key)]
    return "\n\n".join(block for block in blocks if block) or None


def _element(key: str, value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return _listed(str(value.get("name") or key), value.get("include"), value.get("exclude"))


def _listed(name: str, include: Any, exclude: Any) -> str:
    lines = [
        f"{verb}: {'; '.join(str(item) for item in items)}"
        for verb, items in (("Include", include), ("Exclude", exclude))
        if isinstance(items, list) and items
    ]
    return "\n".join([name, *lines]) if lines else ""
