"""The prompts of the judges, one file each."""

from importlib import resources

from litcascade.errors import InputError
from litcascade.registry import nearest
from litcascade.schemas import Prompt


def shipped() -> list[str]:
    """Names of the prompts there are."""
    folder = resources.files("litcascade.judges") / "prompts"
    return sorted(item.name.removesuffix(".md") for item in folder.iterdir() if item.name.endswith(".md"))


def load(name: str) -> Prompt:
    """A judge's prompt in its two parts; an unknown name is an `InputError` with the nearest right one."""
    if name not in shipped():
        raise InputError(f"there is no judge's prompt '{name}'{nearest(name, shipped())}")
    text = (resources.files("litcascade.judges") / "prompts" / f"{name}.md").read_text(encoding="utf-8")
    system, _, user = text.removeprefix("# System\n").partition("\n# User\n")
    return Prompt(name=name, system=system.strip(), user=user.strip())
