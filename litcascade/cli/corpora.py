"""`litcascade corpus`: list benchmark sets, show one, fetch its files, load it into a review."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from litcascade.cli.show import print_json, print_tables
from litcascade.errors import InputError
from litcascade.report import Table


def list_sets(json_out: bool) -> None:
    """Every card in a row."""
    from litcascade.corpora.sets import SETS

    cards = [benchmark.card for _, benchmark in SETS]
    if json_out:
        print_json([asdict(card) for card in cards])
        return
    rows = [[card.name, card.title, ", ".join(card.labels), card.licence, any(file.url for file in card.files)] for card in cards]
    notes = ["litcascade corpus show NAME --from FOLDER describes a set; docs/corpora.md says what each needs"]
    print_tables([Table("Benchmark sets", ["name", "what it holds", "labels at", "licence", "can be fetched"], rows, notes)])


def show_set(name: str, folder: Path, part: str | None, texts: Path | None, drawing: Path | None, json_out: bool) -> None:
    """Statistics of a set, its overlaps between splits, and where asked a map of its records."""
    from litcascade.corpora.sets import SETS, map_points, map_svg, split_overlaps, statistics
    from litcascade.pipeline.corpus import read_set

    benchmark = SETS.get(name)
    corpus = read_set(benchmark, folder, part, texts)
    found = statistics(corpus)
    overlaps = {f"{a} / {b}": len(shared.pairs) for (a, b), shared in split_overlaps(corpus).items()}
    if drawing is not None:
        if drawing.suffix != ".svg":
            raise InputError(f"{drawing}: the map is drawn as SVG; give a name that ends in .svg")
        drawing.write_text(map_svg(map_points(corpus)), encoding="utf-8")
    if json_out:
        print_json({"card": asdict(corpus.card), "statistics": _plain(found), "overlaps": overlaps, "notes": list(corpus.notes)})
        return
    print_tables(_tables(corpus, found, overlaps, benchmark.parts(folder)))
    if drawing is not None:
        typer.echo(f"wrote {drawing}")


def _plain(value: Any) -> Any:
    found = asdict(value) if hasattr(value, "__dataclass_fields__") else value
    if isinstance(found, dict):
        return {key: _plain(item) for key, item in found.items()}
    if isinstance(found, list | tuple):
        return [_plain(item) for item in found]
    return found.model_dump() if hasattr(found, "model_dump") else found


def _tables(corpus: Any, found: Any, overlaps: dict[str, int], parts: list[str]) -> list[Table]:
    stages = [
        [stage.stage, stage.source, stage.included, stage.excluded, stage.unlabelled, stage.prevalence.value]
        for stage in found.stages
    ]
    five = [
        [name, q.known, q.unknown, q.low, q.first, q.median, q.third, q.high]
        for name, q in (
            ("year", found.years), ("title, words", found.title_words), ("abstract, words", found.abstract_words),
            ("full text, words", found.text_words),
        )
    ]  # fmt: skip
    counts = [["records", found.records], ["rows set aside", found.set_aside]]
    counts += [[f"without {name}", count] for name, count in found.missing.items() if count]
    counts += [[f"documents: {state}", count] for state, count in found.documents.items()]
    counts += [[f"split {name}", count] for name, count in found.splits.items()]
    counts += [[f"shared by the splits {pair}", count] for pair, count in overlaps.items()]
    shown = ", ".join(parts[:20]) + (f" and {len(parts) - 20} more" if len(parts) > 20 else "")
    notes = [f"source: {corpus.card.source}", f"licence: {corpus.card.licence}", f"parts: {shown}"]
    notes += [f"label at {level}: {meaning}" for level, meaning in corpus.card.labels.items()]
    return [
        Table(f"{corpus.card.title}", ["", "count"], counts, [*notes, *corpus.notes]),
        Table("Labels", ["stage", "source", "include", "exclude", "none", "prevalence"], stages),
        Table("Figures", ["", "known", "unknown", "least", "quarter", "median", "three quarters", "most"], five),
    ]


def load_set(name: str, folder: Path, part: str | None, texts: Path | None, review: Path, json_out: bool) -> None:
    """Make a review of a set, or of one part of it."""
    from litcascade.corpora.sets import SETS
    from litcascade.pipeline.corpus import load_corpus, read_set

    loaded = load_corpus(read_set(SETS.get(name), folder, part, texts), review)
    if json_out:
        print_json(asdict(loaded))
        return
    counts = {"records": loaded.records, "labels": loaded.labels, "full texts": loaded.documents, "gold values": loaded.values}
    rows = [[what, count] for what, count in {**counts, "rows set aside": loaded.set_aside}.items()]
    print_tables([Table(f"{loaded.review}: review of the set '{name}'", ["", "count"], rows, list(loaded.notes)[:12])])


def fetch_set(name: str, folder: Path, part: str | None, mailto: str | None, json_out: bool) -> None:
    """Bring the files of a set, and for a set of identifiers its titles and abstracts, into a folder."""
    from rich.console import Console

    from litcascade.corpora.sets import SETS, fetch_files, fetch_texts

    benchmark = SETS.get(name)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True, markup=False, highlight=False)
    files = fetch_files(benchmark.card, folder, part, say=console.print)
    rows = [[file.path, file.fault or ("differs from the card's" if file.differs else "here")] for file in files]
    texts = None
    if benchmark.needs_texts and not any(file.fault for file in files):
        texts = fetch_texts(folder, part, mailto=mailto)
        rows.append(
            ["titles and abstracts", f"{texts.found + texts.cached} of {texts.asked} here, {texts.absent} not at the source"]
        )
    if json_out:
        told = [{"file": file.path, "fault": file.fault, "differs": file.differs} for file in files]
        print_json({"files": told, "texts": asdict(texts) if texts else None})
    else:
        print_tables([Table(f"Files of '{name}' in {folder}", ["file", "state"], rows)])
    if any(file.fault for file in files):
        raise typer.Exit(3)
