"""Prompts: texts with named places, filled in one pass so that nothing in a paper is taken for a place."""

import re
from collections.abc import Mapping
from importlib import resources

from litcascade.errors import InputError
from litcascade.registry import nearest
from litcascade.schemas import Prompt
from litcascade.schemas.steering import clean

_PLACE = re.compile(r"\{([a-z_]+)\}")
_LIKE_A_PLACE = re.compile(r"\{\s*([A-Za-z][\w ]*?)\s*\}")
NEEDED = {"title_abstract": ("title", "abstract"), "full_text": ("text",), "extraction": ("text",)}
PLACES = {
    "question", "notes", "criteria", "include_criteria", "exclude_criteria", "include", "exclude", "fields",
    "title", "abstract", "text", "answer",
}  # fmt: skip
SHARED = PLACES - {"title", "abstract", "text", "answer"}


def shipped(stage: str) -> list[str]:
    """Names of the prompts that the program ships for a stage."""
    folder = resources.files("litcascade.stages") / "prompts" / stage
    return sorted(item.name.removesuffix(".md") for item in folder.iterdir() if item.name.endswith(".md"))


def load(stage: str, name: str) -> Prompt:
    """Load a shipped prompt; an unknown name is an `InputError` with the nearest right one."""
    if name not in shipped(stage):
        raise InputError(f"there is no prompt '{name}' for stage '{stage}'{nearest(name, shipped(stage))}")
    text = (resources.files("litcascade.stages") / "prompts" / stage / f"{name}.md").read_text(encoding="utf-8")
    return split(text, name)


def split(text: str, name: str) -> Prompt:
    """Split a prompt text at its `# System` and `# User` headings; unknown places in it are refused."""
    match = re.fullmatch(r"\s*# System\s*\n(.*?)\n# User\s*\n(.*)", text, re.DOTALL)
    if not match:
        raise InputError(f"prompt '{name}' must have a '# System' part and then a '# User' part")
    system, user = (part.strip() for part in match.groups())
    for part, allowed in ((system, SHARED), (user, PLACES)):
        for place in _LIKE_A_PLACE.findall(part):
            if place not in allowed:
                hint = "; what differs by record belongs in the user part" if place in PLACES else nearest(place.lower(), allowed)
                raise InputError(f"prompt '{name}' has an unknown place {{{place}}}{hint}")
    return Prompt(name=name, system=system, user=user)


def require_places(prompt: Prompt, stage: str) -> None:
    """Refuse a prompt that would not show the record to the reader: one reply would then decide them all."""
    shown = set(_PLACE.findall(prompt.user))
    needed = NEEDED.get(stage, ())
    if needed and not shown.intersection(needed):
        places = " or ".join(f"{{{place}}}" for place in needed)
        raise InputError(f"prompt '{prompt.name}' shows no record: its user part needs {places}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill the named places in one pass; braces inside the values stay as they are."""
    return _PLACE.sub(lambda match: values.get(match.group(1), match.group(0)), template)


def fence(text: str, tag: str) -> str:
    """Text from a paper between `<tag>` marks that the text itself cannot close, without what people would not see of it."""
    shown, _ = clean(text)
    inert = re.sub(rf"<(/?)\s*{tag}\b", rf"‹\1{tag}", shown, flags=re.IGNORECASE)
    return f"<{tag}>\n{inert.strip()}\n</{tag}>"
