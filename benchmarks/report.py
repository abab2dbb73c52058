"""The report of a whole review: `lassa` (2,817 records) with recorded verdicts, written as HTML and Markdown, and timed.

usage: report.py [FOLDER] [CORPORA]      (a temporary folder; ../shared/corpora beside the checkout)

No model is asked: two readers answer by the labels with noise that a hash draws, reports are invented, and a person decides on
part of what was referred. The corpus is read where it lies. A review that is in FOLDER already is used as it is.
"""

import asyncio
import csv
import hashlib
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from litcascade.backends.scripted import ScriptedBackend
from litcascade.corpora.labels import Choice
from litcascade.pipeline.importing import import_gold, import_records, record_choices
from litcascade.pipeline.report_page.assembling import report_page
from litcascade.pipeline.review import Review, open_review
from litcascade.pipeline.run import run_review
from litcascade.pipeline.texts import import_texts
from litcascade.report.html import page_html
from litcascade.report.markdown import page_markdown
from litcascade.schemas import Reply, Request, TokenLogprobs
from litcascade.store import Store

REASONS = ("duplicate", "not English", "wrong pathogen", "case report", "no parameters", "not original", "not peer reviewed")
PROTOCOL = """
[review]
title = "Lassa fever: parameters, models and outbreaks"
question = "Which parameters of the transmission of Lassa fever were estimated?"
[[search]]
source = "PubMed and others"
date = 2023-05-01
count = 2817
[[criteria]]
id = "I1"
kind = "include"
text = "Reports parameters, a model or an outbreak of Lassa fever."
{criteria}
[models.noisy]
backend = "http"
model = "noisy-oracle"
endpoints = ["http://127.0.0.1:9/v1"]
[readers.first]
model = "noisy"
[readers.second]
model = "noisy"
prompt = "inclusion"
[readers.reports]
model = "noisy"
prompt = "chain_of_thought"
style = "free"
labels = ["include", "exclude"]
[stages.title_abstract]
readers = ["first", "second"]
policy = "threshold"
threshold = 0.3
[stages.full_text]
readers = ["reports"]
"""


def chance(*parts: str) -> float:
    """A number from 0 to 1 that the parts draw."""
    return int(hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:12], 16) / 16**12


def noisy(rows: list[dict[str, str]]) -> ScriptedBackend:
    """Answers by the label of the record whose title, or made-up report, stands in the question."""
    by_title = {" ".join(row["title"].split()).casefold(): row for row in rows}
    by_id = {row["id"]: row for row in rows}

    def answer(request: Request) -> Reply:
        asked = request.messages[-1].content
        if "Report of record " in asked:
            row = by_id[asked.split("Report of record ")[1].split(".")[0]]
            right = row["label_full_text"] == "include"
            says = "include" if right == (chance("reports", row["id"]) > 0.12) else "exclude"
            text = f"It was weighed. Decision: {says}" if chance("form", row["id"]) > 0.03 else "I cannot say."
            return Reply(key=request.key, text=text, prompt_tokens=len(asked) // 4, completion_tokens=9, seconds=0.4)
        title = asked.split("<title>")[1].split("</title>")[0] if "<title>" in asked else asked
        row = by_title.get(" ".join(title.split()).casefold(), rows[0])
        noise = 2.2 * (chance(request.key, "a") + chance(request.key, "b") + chance(request.key, "c") - 1.5)
        p = 1 / (1 + math.exp(-((1.3 if row["label_title_abstract"] == "include" else -2.0) + 2 * noise)))
        top = (("yes", math.log(p)), ("no", math.log1p(-p)))
        said = "yes" if p >= 0.5 else "no"
        return Reply(
            key=request.key, text=said, prompt_tokens=len(asked) // 4, completion_tokens=1, seconds=0.05,
            logprobs=(TokenLogprobs(token=said, top=top),),
        )  # fmt: skip

    return ScriptedBackend(answer)


def build(folder: Path, corpora: Path) -> Review:
    """The review with its verdicts."""
    source = corpora / "lassa" / "records.csv"
    with source.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    folder.mkdir(parents=True, exist_ok=True)
    criteria = "".join(f'[[criteria]]\nid = "E{n}"\nkind = "exclude"\ntext = "{words}"\n' for n, words in enumerate(REASONS, 1))
    (folder / "review.toml").write_text(PROTOCOL.format(criteria=criteria), encoding="utf-8")
    review = open_review(folder)
    backend = noisy(rows)
    with review.open(create=True) as store:
        import_records(store, source)
        import_gold(review, store, source)
        asyncio.run(run_review(review, store, backends={"noisy": backend}, probed=False))
        labels = {row["id"]: row for row in rows}
        waiting = [row[0] for row in store.rows("select record_id from title_abstract where state = 'referred' order by 1")]
        said = [(key, labels[key]["label_title_abstract"], None) for key in waiting if chance("person", key) < 0.8]
        decide(review, store, "title_abstract", said)
        texts = folder / "texts"
        texts.mkdir()
        for (key,) in store.rows("select record_id from title_abstract where passes"):
            if chance("retrieved", key) > 0.05:
                words = "Nothing of it is real. " * int(20 + 200 * chance("length", key))
                (texts / f"{key}.txt").write_text(f"Report of record {key}. {words}", encoding="utf-8")
        import_texts(store, texts)
        asyncio.run(run_review(review, store, backends={"noisy": backend}, probed=False))
        excluded = store.rows("select record_id from full_text where state = 'excluded' order by 1")
        reasons = [(key, "exclude", labels[key]["full_text_exclusion_reason"][:1]) for (key,) in excluded]
        decide(review, store, "full_text", [(key, what, f"E{n}") for key, what, n in reasons if n and n in "1234567"])
    return review


def decide(review: Review, store: Store, stage: str, said: Sequence[tuple[str, str, str | None]]) -> None:
    """A person's decisions."""
    choices = [Choice(key, stage, what, False, "Ada", criterion, None) for key, what, criterion in said if what]  # type: ignore[arg-type]
    record_choices(review, store, choices, "Ada", "the benchmark")


def main() -> None:
    """Build where nothing is built yet, write both files, print the times."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "lassa"
    corpora = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).resolve().parents[2] / "shared" / "corpora"
    started = time.perf_counter()
    review = open_review(folder) if (folder / "review.duckdb").exists() else build(folder, corpora)
    print(f"review in {folder}: {time.perf_counter() - started:.1f} s")
    for turn in ("first", "again"):
        started, used = time.perf_counter(), time.process_time()
        with review.open() as store:
            page = report_page(review, store)
        made = time.perf_counter() - started
        text = page_html(page)
        (folder / "report.html").write_text(text, encoding="utf-8")
        (folder / "report.md").write_text(page_markdown(page), encoding="utf-8")
        print(f"report, {turn}: {time.perf_counter() - started:.1f} s ({made:.1f} s of it queries and figures), "
              f"{time.process_time() - used:.1f} s of processor time, {len(text.encode()) / 1e6:.2f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
