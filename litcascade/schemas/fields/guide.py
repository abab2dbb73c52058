"""The field guide: what a model is told of each field, made from its declaration."""

from collections.abc import Sequence

from litcascade.schemas.fields.spec import FieldSpec


def guide(specs: Sequence[FieldSpec]) -> str:
    """The field guide for the prompt: an entry a field, with definition, allowed values and edge cases."""
    return "\n".join(line for spec in specs for line in _entry(spec, "- "))


def _entry(spec: FieldSpec, mark: str) -> list[str]:
    lines = [f"{mark}{spec.name}: {_sentence(spec.definition)}Value: {_allowed(spec)}{':' if spec.fields else '.'}"]
    inner = " " * len(mark)
    lines += [f"{inner}Note: {' '.join(case.split())}" for case in spec.edge_cases]
    if spec.kind == "group":
        lines += [line for field in spec.fields for line in _entry(field, f"{inner}- ")]
    return lines


def _sentence(text: str) -> str:
    return f"{text.strip()} " if text.strip() else ""


def _allowed(spec: FieldSpec) -> str:
    null = "" if spec.required else ", or null if not reported"
    mark = "; " if any("," in value for value in spec.values) else ", "
    unit = f" in {spec.unit}" if spec.unit else ""
    match spec.kind:
        case "closed":
            return f"exactly one of: {mark.join(spec.choices())}"
        case "ordinal":
            return f"exactly one of, from low to high: {mark.join(spec.choices())}"
        case "multi":
            return f"a list of any of: {mark.join(spec.values)} (empty list if none is reported)"
        case "number":
            return f"a number{unit}{null}"
        case "date":
            return f"a date as YYYY-MM-DD, YYYY-MM or YYYY, no more exact than the report gives it{null}"
        case "open":
            return f"a short phrase{null}"
        case "group":
            told = f", which differ in {', '.join(field.name for field in spec.keys)}" if spec.key else ""
            return f"a list with one object for each row{told} (at most {spec.rows}; empty list if none is reported) with"
