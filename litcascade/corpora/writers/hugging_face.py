"""Data sets for the Hugging Face `datasets` library in three shapes, as one file (.jsonl, .parquet) or a folder with a card.

`text`: a text (title and abstract) and a label. `pair`: the criteria as `text`, title and abstract as `text_pair`, a label.
`qa`: question, context, answer; one line an answer, or the screening question where a row has no answers.
`label` is 1 (include), 0 (exclude) or null; `label_from` says where it was said, null where it was not.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from litcascade.corpora.writers.base import WRITERS, About, Cleaner, Row, Written, label_of, title_and_abstract
from litcascade.corpora.writers.cells import cells, columns
from litcascade.corpora.writers.jsonl import write_objects
from litcascade.corpora.writers.parquet import WHOLE_NUMBERS, write_frame
from litcascade.errors import InputError

Line = dict[str, str | int | None]
Shape = Callable[[Row, About], Iterator[Line]]
_TASKS = {"text": "text-classification", "pair": "text-classification", "qa": "question-answering"}
_SHARED = {"label": "1 include, 0 exclude, null where nothing was decided", "label_from": "where the label was said"}
_MEANS = {
    "text": {"text": "title and abstract", **_SHARED},
    "pair": {"text": "question and criteria", "text_pair": "title and abstract", **_SHARED},
    "qa": {
        "id": "one a line",
        "record_id": "the record asked about",
        "question": "what was asked",
        "context": "the text that was put to the reader",
        "answer": "what was answered, null where nothing was",
        "label_from": "where the answer to the screening question was said",
    },
}


def write_shape(path: Path, rows: Iterable[Row], about: About, *, shape: str) -> Written:
    """Write a file by its ending (.jsonl or .parquet, `.part` apart), or a folder with a card where the name has no ending."""
    clean = Cleaner()
    names = _names(shape, about)
    lines = (line for row in clean.rows(rows) for line in _SHAPES[shape](row, about))
    ending = Path(path.name.removesuffix(".part")).suffix.lower()
    if ending == ".jsonl":
        count = write_objects(path, names, lines)
    elif ending == ".parquet":
        count = write_frame(path, names, lines)
    elif ending:
        raise InputError(f"{path}: a Hugging Face data set is a .jsonl file, a .parquet file or a folder (a name without ending)")
    else:
        (path / "data").mkdir(parents=True)
        count = write_frame(path / "data" / "train.parquet", names, lines)
        (path / "README.md").write_text(_card(shape, about, names, count), encoding="utf-8")
    return Written(count, clean.notes())


def _names(shape: str, about: About) -> list[str]:
    own = list(_MEANS[shape])
    return own if shape == "qa" else [*own, *columns(about)]


def _text(row: Row, about: About) -> Iterator[Line]:
    yield {"text": title_and_abstract(row.record), **_label(row, about), **cells(row, about)}


def _pair(row: Row, about: About) -> Iterator[Line]:
    asked = _asked(about)
    text = title_and_abstract(row.record)
    yield {"text": asked, "text_pair": text, **_label(row, about), **cells(row, about)}


def _question_answer(row: Row, about: About) -> Iterator[Line]:
    record_id, text = row.record.record_id, title_and_abstract(row.record)
    if not row.answers:
        label, source = label_of(row, about)
        question = _asked(about)
        ids: Line = {"id": f"{record_id}#{about.decided_at}", "record_id": record_id}
        yield {**ids, "question": question, "context": text, "answer": label, "label_from": source}
    for answer in row.answers:
        ids = {"id": f"{record_id}#{answer.name}", "record_id": record_id}
        context = text if answer.context is None else answer.context
        yield {**ids, "question": answer.question, "context": context, "answer": answer.answer}


def _asked(about: About) -> str:
    return "\n\n".join(part for part in (about.question, about.criteria) if part)


def _label(row: Row, about: About) -> Line:
    label, source = label_of(row, about)
    return {"label": None if label is None else int(label == "include"), "label_from": source}


_SHAPES: dict[str, Shape] = {"text": _text, "pair": _pair, "qa": _question_answer}
for _shape in _SHAPES:
    WRITERS.register(f"hf_{_shape}")(partial(write_shape, shape=_shape))


def _card(shape: str, about: About, names: list[str], count: int) -> str:
    """The data-set card: YAML that `datasets` reads, then what the columns hold. JSON strings are YAML strings."""
    features = [line for name in names for line in _feature(name)]
    lines = [
        "---", f"pretty_name: {json.dumps(about.name, ensure_ascii=False)}", "task_categories:", f"- {_TASKS[shape]}",
        "configs:", "- config_name: default", "  data_files:", "  - split: train", "    path: data/train.parquet",
        "dataset_info:", "  features:", *features, "  splits:", "  - name: train", f"    num_examples: {count}", "---", "",
        f"# {' '.join(about.name.split())}", "", "Records of a systematic review with decisions, written by litcascade.", "",
        *(f"- `{name}`: {words}" for name, words in _MEANS[shape].items()), "",
    ]  # fmt: skip
    return "\n".join(lines)


def _feature(name: str) -> list[str]:
    if name == "label":
        classes = ["        '0': exclude", "        '1': include"]
        return ["  - name: label", "    dtype:", "      class_label:", "        names:", *(f"  {line}" for line in classes)]
    return [f"  - name: {name}", f"    dtype: {'int64' if name in WHOLE_NUMBERS else 'string'}"]
