"""The demo review: invented studies, run from export to report on the embedded model."""

import shutil
from importlib import resources
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.importing import import_gold, import_records
from litcascade.pipeline.review import PROTOCOL_NAME, Review, open_review
from litcascade.pipeline.texts import import_texts

MODEL = "qwen2.5-coder-1.5b"
FILES = ("review.toml", "records.ris", "gold_screening.csv", "gold_fields.csv")


def lay_out(folder: Path) -> Review:
    """Copy the demo review into a folder of its own; a folder that holds another review is refused."""
    source = resources.files("litcascade") / "demo"
    ours = (source / PROTOCOL_NAME).read_text(encoding="utf-8")
    there = folder / PROTOCOL_NAME
    if there.exists() and there.read_text(encoding="utf-8", errors="replace") != ours:
        raise InputError(f"{folder}: holds another review (or an edited demo); name another folder with --into")
    folder.mkdir(parents=True, exist_ok=True)
    with resources.as_file(source) as path:
        for name in FILES:
            shutil.copyfile(path / name, folder / name)
        shutil.copytree(path / "texts", folder / "texts", dirs_exist_ok=True)
    return open_review(folder)


def fill(review: Review) -> None:
    """Import records, texts and gold of the demo, where they are not imported yet."""
    with review.open(create=True) as store:
        if not store.value("select count(*) from records"):
            import_records(store, review.folder / "records.ris")
        if not store.value("select count(*) from documents"):
            import_texts(store, review.folder / "texts")
        if not store.value("select count(*) from gold"):
            import_gold(review, store, review.folder / "gold_screening.csv")
        if not store.value("select count(*) from gold_fields"):
            import_gold(review, store, review.folder / "gold_fields.csv")
