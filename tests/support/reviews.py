"""Small reviews for tests."""

import asyncio
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from litcascade.backends import Backend
from litcascade.pipeline.importing import import_gold, import_records
from litcascade.pipeline.review import Review, open_review
from litcascade.pipeline.run import Outcome, run_review
from litcascade.pipeline.texts import import_texts

HEAD = """
[review]
title = "Zinc"
question = "Does zinc help adults with a sore throat?"
[[criteria]]
id = "I1"
kind = "include"
text = "Adults took zinc."
[[criteria]]
id = "E1"
kind = "exclude"
text = "Is a review."
"""
MODEL = """
[models.m]
backend = "http"
model = "m"
endpoints = ["{url}"]
retries = {retries}
concurrency = 16
timeout = 5
"""
ABSTRACTS = """
[readers.one]
model = "m"
prompt = "inclusion"
[stages.title_abstract]
readers = ["one"]
"""
REPORTS = """
[readers.prose]
model = "m"
prompt = "chain_of_thought"
style = "free"
labels = ["include", "exclude"]
[readers.refiner]
model = "m"
[stages.full_text]
readers = ["prose"]
refiner = "refiner"
"""
FIELDS = """
[readers.extractor]
model = "m"
[stages.extraction]
readers = ["extractor"]
[[fields]]
name = "setting"
kind = "closed"
definition = "Where it took place."
values = ["hospital", "school"]
[[fields]]
name = "outcomes"
kind = "multi"
definition = "What was measured."
values = ["pain", "days"]
[[fields]]
name = "people"
kind = "number"
definition = "How many took part."
minimum = 1
maximum = 1000
[[fields]]
name = "dose"
kind = "open"
definition = "Dose of zinc."
"""


class ReviewFolder:
    """Makes a review in a folder, step by step."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def protocol(self, *parts: str, url: str = "http://127.0.0.1:9/v1", retries: int = 0, head: str = HEAD) -> Review:
        """Write the protocol from its parts; stages in the order given."""
        text = head + MODEL.format(url=url, retries=retries) + "".join(parts)
        (self.path / "review.toml").write_text(text, encoding="utf-8")
        return self.review

    @property
    def review(self) -> Review:
        return open_review(self.path)

    def records(self, rows: Sequence[Mapping[str, str | None]] | int) -> None:
        """Import records from rows, or so many plain ones (r1, r2, …)."""
        if isinstance(rows, int):
            rows = [
                {"id": f"r{i}", "title": f"Zinc trial {i}", "abstract": f"Forty adults took zinc in trial {i}."}
                for i in range(1, rows + 1)
            ]
        path = self.table("records.csv", rows)
        with self.review.open(create=True) as store:
            import_records(store, path)

    def texts(self, texts: Mapping[str, str]) -> None:
        """Import plain full texts by record id."""
        where = self.path / "texts"
        where.mkdir(exist_ok=True)
        for record_id, text in texts.items():
            (where / f"{record_id}.txt").write_text(text, encoding="utf-8")
        with self.review.open() as store:
            import_texts(store, where)

    def gold(self, rows: Sequence[Mapping[str, str | None]], name: str = "gold.csv") -> None:
        """Import gold labels or fields."""
        path = self.table(name, rows)
        review = self.review
        with review.open() as store:
            import_gold(review, store, path)

    def table(self, name: str, rows: Sequence[Mapping[str, str | None]]) -> Path:
        path = self.path / name
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    def run(self, backends: Mapping[str, Backend] | None = None, *, probed: bool = False) -> Outcome:
        """Run the review in this process."""
        review = self.review
        with review.open() as store:
            return asyncio.run(run_review(review, store, backends=backends, probed=probed))

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self.review.open() as store:
            return store.rows(sql, parameters)

    def states(self, stage: str) -> dict[str, str]:
        return dict(self.rows(f"select record_id, state from {stage}"))
