"""Labels that an export carries itself: only forms that are known become labels, everything else is none.

ASReview and Rayyan leave decisions in the notes of RIS files, and in columns of tables; our own exports do too. A label is
`include`, `exclude`, `maybe` or `conflict` (screeners differ); blank, -1 and "not seen" are no label. In an export of ASReview
the column `asreview_label` alone says what was decided there; `included` beside it is what the imported file had said before.
"""

import re
from collections.abc import Iterable, Mapping

from litcascade.corpora.abstracts import nothing

FORMS = {
    "include": "include", "included": "include", "yes": "include", "1": "include", "relevant": "include",
    "exclude": "exclude", "excluded": "exclude", "no": "exclude", "0": "exclude", "irrelevant": "exclude",
    "i": "include", "e": "exclude", "maybe": "maybe", "unsure": "maybe", "conflict": "conflict",
}  # fmt: skip
COLUMNS = {
    "title_abstract": ("title_abstract", "label_title_abstract", "label_abstract", "abstract_label", "label_abstract_screening"),
    "full_text": ("full_text", "label_full_text", "label_included", "final_label", "final_included", "included_final"),
    "screening": ("included", "asreview_label", "label", "decision", "screening_decision"),
}
ASREVIEW_COLUMN = "asreview_label"
BY_MODEL = " (model)"  # behind a state in our exports that no person decided: it reads back as no label
_NO_LABEL = {"-1", "unlabelled", "unlabeled", "pending", "referred", "duplicate", "not retrieved", "extracted"}
_STAGE_NOTE = re.compile(
    r"^(title_abstract|full_text): (included|excluded)$"
    r"|^label_(title_abstract|full_text|screening): (include|exclude|maybe|conflict)$"
)
_ASREVIEW = re.compile(r"\bASReview_(relevant|irrelevant)\b", re.IGNORECASE)
_RAYYAN = re.compile(r"RAYYAN-INCLUSION:\s*\{([^}]*)\}")
_RAYYAN_SAID = re.compile(r"=>\s*\"?(Included|Excluded|Maybe)\"?", re.IGNORECASE)


def read_label(cell: str) -> str | None:
    """A known label form, case aside; blank, -1 and unknown words are None."""
    word = cell.strip().casefold().removesuffix(".0")
    return None if nothing(word) else FORMS.get(word)


def unknown_label(cell: str) -> bool:
    """Whether a cell of a label column holds something that is neither a label nor a known way to say none."""
    word = cell.strip().casefold().removesuffix(".0")
    return not nothing(word) and word not in FORMS and word not in _NO_LABEL and not word.endswith(BY_MODEL)


def labels_in_notes(notes: Iterable[str]) -> dict[str, str]:
    """Stage to label, from the note lines of a record."""
    found: dict[str, str] = {}
    labels: dict[str, str] = {}
    said: set[str] = set()
    for note in notes:
        if own := _STAGE_NOTE.match(note.strip()):
            if own.group(1):
                found[own.group(1)] = FORMS[own.group(2)]
            else:
                labels[own.group(3)] = FORMS[own.group(4)]
        said |= {FORMS[word.casefold()] for word in _ASREVIEW.findall(note)}
        for screeners in _RAYYAN.findall(note):
            said |= {FORMS[word.casefold()] for word in _RAYYAN_SAID.findall(screeners)}
    if said:
        found["screening"] = said.pop() if len(said) == 1 else "conflict"
    return {**labels, **found}


def label_in_columns(cells: Mapping[str, str]) -> dict[str, str]:
    """Stage to label, from the cells of a row by (lower-case) column name."""
    found = {}
    for stage, names in COLUMNS.items():
        if stage == "screening" and ASREVIEW_COLUMN in cells:
            names = (ASREVIEW_COLUMN,)
        label = next((label for name in names if name in cells and (label := read_label(cells[name]))), None)
        if label:
            found[stage] = label
    rayyan = labels_in_notes(cells[name] for name in ("notes", "note") if name in cells)
    return {**rayyan, **found}
