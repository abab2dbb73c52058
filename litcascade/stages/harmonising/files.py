"""The file of proposed labels that a person edits: written with its own mark, so that an edited one is told from an untouched."""

import hashlib
from collections.abc import Sequence

from litcascade.schemas.toml_text import toml_value
from litcascade.stages.harmonising.proposing import Candidate, Together

EXAMPLES = 3
_MARK = "# as proposed: "


def proposals_text(field: str, together: Together, notes: Sequence[str]) -> str:
    """The proposals as TOML; the first line holds a digest of the rest."""
    head = [
        "# Labels proposed for this field. Rename, join, part, leave out; say in each definition what belongs there.",
        "# synonyms are further forms that get the label without a model; support and items are for you and mean nothing later.",
        *(f"# {note}" for note in notes),
        "",
        f"field = {toml_value(field)}",
        "several = false # true: one item may have more than one label",
    ]
    body = [line for one in together.candidates for line in _table(one, together.answered)]
    tail = ["", "# items that no subset gave a label:", *(f"#   {toml_value(item)}" for item in together.left_out)]
    text = "\n".join([*head, *body, *(tail if together.left_out else [])]) + "\n"
    return f"{_MARK}{_digest(text)}\n{text}"


def is_untouched(text: str) -> bool:
    """Whether a file is as the proposals were written, so that nothing of a person's is in it."""
    first, _, rest = text.replace("\r\n", "\n").partition("\n")
    return first.startswith(_MARK) and first.removeprefix(_MARK).strip() == _digest(rest)


def _table(one: Candidate, answered: int) -> list[str]:
    others = [f"# or: {toml_value(text)}" for text in one.definitions[1:]]
    items = [f"{item} ({count})" for item, count in one.items]
    return [
        "",
        "[[labels]]",
        f"name = {toml_value(one.name)}",
        f"definition = {toml_value(one.definitions[0])}",
        *others,
        "synonyms = []",
        f"examples = {toml_value([item for item, _ in one.items[:EXAMPLES]])}",
        f'support = "{one.support} of {answered} subsets"',
        "items = [",
        *(f"    {toml_value(item)}," for item in items),
        "]",
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
