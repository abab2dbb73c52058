"""De-duplication measured: recall, precision, CPU and memory, beside bib-dedupe in one run.

usage: dedup.py [--peer PYTHON] [--corpora DIR] [--sets NAME,...] [--size 20000] [--large 100000]

PYTHON is an interpreter with bib-dedupe (also from LITCASCADE_BIB_DEDUPE); without one its columns say why they are empty.
Each tool runs in a process of its own over the same records; CPU seconds and peak memory are the process's with its children's,
start and imports included (memory is looked at ten times a second). Recall and precision are of membership: a marked record
counts where it stands in a group of two or more; of pairs in the perturbed libraries. Where marks name only some members of a
group (van de Schoot, lassa, Nagtegaal) precision is not known.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from dedup_data import (
    LIBRARIES,
    Library,
    endnote_library,
    hard_pairs,
    hosted_library,
    lassa_library,
    nagtegaal_library,
    perturbed,
    real_records,
)

from litcascade.corpora.dedup import Verdict, find_duplicates
from litcascade.schemas import Record

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
PEER = """
import json, sys
import pandas as pd
import bib_dedupe
from bib_dedupe.bib_dedupe import prep, block, match, cluster
if __name__ == "__main__":
    rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    frame = pd.DataFrame([{
        "ID": r["record_id"], "ENTRYTYPE": "article", "title": r["title"] or "", "author": " and ".join(r["authors"]),
        "year": str(r["year"] or ""), "journal": r["journal"] or "", "volume": r["volume"] or "", "number": r["issue"] or "",
        "pages": r["pages"] or "", "abstract": r["abstract"] or "", "doi": r["doi"] or "",
    } for r in rows])
    matched = match(block(prep(frame)))
    unsure = matched[matched["duplicate_label"] == "maybe"] if len(matched) else matched
    groups = [list(group) for group in cluster(matched)] if len(matched) else []
    maybe = [[row["ID_1"], row["ID_2"]] for _, row in unsure.iterrows()]
    json.dump({"groups": groups, "unsure": maybe}, open(sys.argv[2], "w"))
"""


@dataclass
class Outcome:
    """What a tool said of a library, and what that cost."""

    groups: list[list[str]]
    unsure: list[list[str]]
    cpu: float
    seconds: float
    peak: float
    engine: float | None = None  # wall seconds of the de-duplication alone, where the tool says

    def pairs(self) -> set[frozenset[str]]:
        """Every pair of records in one group."""
        return {frozenset(pair) for group in self.groups for pair in combinations(group, 2)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", default=os.environ.get("LITCASCADE_BIB_DEDUPE"))
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--sets", default="libraries,hosted,lassa,nagtegaal,pairs,size,large")
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--read", type=Path, help="internal: de-duplicate this file")
    parser.add_argument("--write", type=Path, help="internal: and write the groups here")
    args = parser.parse_args()
    if args.read:
        ours(args.read, args.write)
        return
    if not args.corpora.is_dir():
        sys.exit(f"the corpora are not at {args.corpora}; name their folder with --corpora")
    if not args.peer:
        print("bib-dedupe is not measured: name an interpreter that has it with --peer or LITCASCADE_BIB_DEDUPE\n")
    print("| set | tool | recall | precision | to people | CPU s | wall s | peak MiB |\n|---|---|---|---|---|---|---|---|")
    for library in libraries(args.sets.split(","), args.corpora, args.size, args.large):
        row(library, "litcascade", run(library.records, None))
        if args.peer and len(library.records) <= args.size:
            row(library, "bib-dedupe", run(library.records, args.peer))
    if "pairs" in args.sets:
        print_pairs(args.corpora, args.peer)


def libraries(sets: list[str], corpora: Path, size: int, large: int) -> Iterable[Library]:
    """The libraries asked for, one by one."""
    if "libraries" in sets:
        yield from (endnote_library(corpora, name) for name in LIBRARIES)
    if "hosted" in sets:
        yield hosted_library(corpora)
    if "lassa" in sets:
        yield lassa_library(corpora)
    if "nagtegaal" in sets:
        yield nagtegaal_library(corpora)
    sizes = [number for name, number in (("size", size), ("large", large)) if name in sets]
    if sizes:
        records = real_records(corpora)
        yield from (perturbed(records, number) for number in sizes)


def ours(read: Path, write: Path) -> None:
    """De-duplicate a file of records, as the child process."""
    with read.open(encoding="utf-8") as lines:
        records = [Record.model_validate_json(line) for line in lines]
    started = time.perf_counter()
    found = find_duplicates(records)
    seconds = time.perf_counter() - started
    groups: dict[str, list[str]] = {}
    for record_id, kept in found.clusters.items():
        groups.setdefault(kept, []).append(record_id)
    many = [group for group in groups.values() if len(group) > 1]
    write.write_text(json.dumps({"groups": many, "unsure": [[p.first, p.second] for p in found.unsure()], "engine": seconds}))


class Peak(threading.Thread):
    """The largest memory of a process with its children, in KiB, looked at ten times a second (pages shared count once)."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.most, self.over = pid, 0, threading.Event()
        self.start()

    def run(self) -> None:
        """Look until told to stop."""
        while not self.over.wait(0.1):
            self.most = max(self.most, sum(map(proportional_size, family(self.pid))))

    def stop(self) -> int:
        """The most that was seen."""
        self.over.set()
        self.join()
        return self.most


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    try:
        children = [
            int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []
    return [pid, *(one for child in children for one in family(child))]


def proportional_size(pid: int) -> int:
    """The process's proportional set size in KiB; 0 once it is gone."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


def run(records: list[Record], peer: str | None) -> Outcome:
    """Run one tool in a process of its own; raises where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        read, write, log = (Path(folder) / name for name in ("records.jsonl", "groups.json", "log"))
        read.write_text("\n".join(record.model_dump_json() for record in records), encoding="utf-8")
        script = Path(folder) / "peer.py"
        script.write_text(PEER)
        command = (
            [peer, str(script), str(read), str(write)]
            if peer
            else [sys.executable, __file__, "--read", str(read), "--write", str(write)]
        )
        started = time.perf_counter()
        with log.open("w") as out:
            child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
            peak = Peak(child.pid)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{command[0]} failed on {len(records)} records:\n{log.read_text()[-2000:]}")
        said = json.loads(write.read_text())
    seconds = time.perf_counter() - started
    return Outcome(
        said["groups"], said["unsure"], usage.ru_utime + usage.ru_stime, seconds, peak.stop() / 1024, said.get("engine")
    )


def row(library: Library, tool: str, outcome: Outcome) -> None:
    """Print a row of the table."""
    recall, precision, open_pairs = score(library, outcome)
    engine = "" if outcome.engine is None else f" ({outcome.engine:.1f} without start and reading)"
    cost = f"{outcome.cpu:.1f} | {outcome.seconds:.1f}{engine} | {outcome.peak:,.0f}"
    print(f"| {library.name} ({len(library.records):,}) | {tool} | {recall} | {precision} | {open_pairs} | {cost} |", flush=True)


def score(library: Library, outcome: Outcome) -> tuple[str, str, str]:
    """(recall, precision, pairs put to people with how many of them are due to be joined), each with its counts."""
    joined = {record_id for group in outcome.groups for record_id in group}
    asked = {record_id for pair in outcome.unsure for record_id in pair}
    if library.original:
        return score_pairs(library, outcome)
    hits, waiting = len(joined & library.marked), len((asked - joined) & library.marked)
    precision = "–" if library.partly else share(hits, len(joined))
    return share(hits, len(library.marked)), precision, f"{len(outcome.unsure)} ({waiting} marked records)"


def score_pairs(library: Library, outcome: Outcome) -> tuple[str, str, str]:
    """Of all pairs with one original, how many share a group; of all pairs in a group, how many have one original."""
    sizes = Counter(library.original.values())
    due = sum(n * (n - 1) // 2 for n in sizes.values())
    found = [tuple(pair) for pair in outcome.pairs()]
    hits = sum(library.original[a] == library.original[b] for a, b in found)
    waiting = sum(library.original[a] == library.original[b] for a, b in outcome.unsure)
    return share(hits, due), share(hits, len(found)), f"{len(outcome.unsure)} ({waiting} due)"


def share(part: int, whole: int) -> str:
    """A proportion with its counts; no number where there is nothing to divide by."""
    return f"{part / whole:.4f} ({part}/{whole})" if whole else "undefined (0/0)"


def print_pairs(corpora: Path, peer: str | None) -> None:
    """The hard pairs: how many of each kind each tool joined, left to a person, or kept apart."""
    print("\n| hard pairs | tool | joined | to a person | apart |\n|---|---|---|---|---|")
    pairs = hard_pairs(corpora)
    for expected in (True, False):
        counts = Counter(verdict(a, b) for _, same, a, b in pairs if same is expected)
        print_counts(expected, "litcascade", counts)
        if peer:
            theirs = (run([a, b], peer) for _, same, a, b in pairs if same is expected)
            print_counts(expected, "bib-dedupe", Counter(word_of(outcome) for outcome in theirs))


def verdict(a: Record, b: Record) -> str:
    """What our rules make of two records."""
    found = find_duplicates([a, b])
    verdicts = {pair.verdict for pair in found.pairs}
    return "joined" if Verdict.SAME in verdicts else "to a person" if Verdict.UNSURE in verdicts else "apart"


def word_of(outcome: Outcome) -> str:
    """The same word for the outcome of a run over two records."""
    return "joined" if outcome.groups else "to a person" if outcome.unsure else "apart"


def print_counts(expected: bool, tool: str, counts: Counter[str]) -> None:
    """Print a row of the table of hard pairs."""
    cells = " | ".join(str(counts[word]) for word in ("joined", "to a person", "apart"))
    print(f"| {'yes' if expected else 'no'} ({sum(counts.values())}) | {tool} | {cells} |")


if __name__ == "__main__":
    main()
