"""Label sets that a person froze: stored as versions, never changed; the same content again is no new one."""

from dataclasses import dataclass
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.harmonising.items import require_open
from litcascade.pipeline.review import Review
from litcascade.stages.harmonising import LabelSet, parse_labels
from litcascade.store import Store, now


@dataclass(frozen=True)
class FrozenLabels:
    """A version of a field's labels; `fresh` is false where the same content was frozen before."""

    field: str
    version: int
    hash: str
    author: str
    labels: LabelSet
    fresh: bool = False


def freeze(review: Review, store: Store, field: str, path: Path, author: str) -> FrozenLabels:
    """Store the labels of a file as the field's next version.

    Where the newest version has the same content, that one is returned and nothing is stored. A file that is not there, is not
    valid, or that nobody signs is an `InputError`.
    """
    require_open(review, field)
    if not author.strip():
        raise InputError("a label set needs an author; add --author NAME")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; write one with `litcascade harmonise propose --field {field}`")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    labels = parse_labels(text, field, str(path))
    rows = store.rows("select version, hash, author from label_sets where field = ? order by version desc limit 1", [field])
    if rows and rows[0][1] == labels.content_hash:
        return FrozenLabels(field, rows[0][0], rows[0][1], rows[0][2], labels)
    version = rows[0][0] + 1 if rows else 1
    names = [label.name for label in labels.labels]
    row = {"at_time": now(), "field": field, "version": version, "hash": labels.content_hash, "author": author.strip()}
    store.append("label_sets", [{**row, "names": names, "text": text}])
    return FrozenLabels(field, version, labels.content_hash, author.strip(), labels, fresh=True)


def load_frozen(store: Store, field: str, version: int | None = None) -> FrozenLabels:
    """A frozen version of a field's labels, the newest where none is named; an `InputError` where there is none."""
    rows = store.rows("select version, hash, author, text from label_sets where field = ? order by version", [field])
    if not rows:
        raise InputError(
            f"the labels of '{field}' are not frozen yet; litcascade harmonise freeze FILE --field {field} --author NAME"
        )
    found = rows[-1] if version is None else next((row for row in rows if row[0] == version), None)
    if found is None:
        raise InputError(f"there is no version {version} of the labels of '{field}'; there are 1 to {rows[-1][0]}")
    labels = parse_labels(found[3], field, f"version {found[0]} of the labels of '{field}'")
    return FrozenLabels(field, found[0], found[1], found[2], labels)
