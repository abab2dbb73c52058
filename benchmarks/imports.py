"""100,000 RIS records: read beside rispy in one run, and imported into a store with its memory measured.

    python benchmarks/imports.py [--records 100000]

The file is made here (invented words, seeded). rispy must be installed (`pip install rispy`); without it only our own times
are shown.
"""

import argparse
import importlib
import importlib.util
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = (
    "zinc lozenges reduce sore throat duration among adults children trial randomised placebo controlled cohort of in the and "
    "with risk exposure honey cough dose outcome follow up weeks analysis effect measured was were group compared baseline"
)


def write_ris(path: Path, records: int, seed: int = 1) -> None:
    """Write a clean RIS file of about 1.9 kB a record."""
    rng = random.Random(seed)
    words = WORDS.split()
    with path.open("w", encoding="utf-8") as out:
        for number in range(records):
            title = " ".join(rng.choices(words, k=12)).capitalize()
            abstract = " ".join(rng.choices(words, k=230)).capitalize()
            authors = "".join(f"AU  - Name{rng.randrange(9999)}, A. B.\n" for _ in range(5))
            out.write(
                f"TY  - JOUR\nID  - r{number}\nTI  - {title}\nAB  - {abstract}.\n{authors}PY  - {1990 + number % 35}\n"
                f"JO  - Journal of Examples {number % 400}\nVL  - {number % 90}\nIS  - {number % 12}\nSP  - {number % 800}\n"
                f"EP  - {number % 800 + 9}\n"
                f"DO  - 10.5555/bench.{number}\nUR  - https://example.org/{number}\nKW  - zinc\nER  - \n\n"
            )


def timed_in_child(code: str, path: Path) -> dict[str, float]:
    """Seconds, peak MiB and records of a piece of code run in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--child", code, str(path)], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def child(code: str, path: Path) -> None:
    """Run one of the three, its libraries loaded before, and print what it took."""
    work = {"rispy": read_with_rispy, "read": read_with_ours, "import": import_with_ours}[code]
    work(path.with_name("one.ris"))
    begin, cpu = time.perf_counter(), time.process_time()
    count = work(path)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mib": peak, "records": count}))


def read_with_rispy(path: Path) -> int:
    """All records in memory, as rispy gives them."""
    with path.open(encoding="utf-8") as handle:
        return len(importlib.import_module("rispy").load(handle))


def read_with_ours(path: Path) -> int:
    """Every record once."""
    from litcascade.corpora import Export
    from litcascade.schemas import Record

    return sum(isinstance(item, Record) for item in Export(path).items())


def import_with_ours(path: Path) -> int:
    """Into a fresh store."""
    from litcascade.pipeline.importing import import_records
    from litcascade.store import Store

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "review.duckdb", create=True) as store:
        return import_records(store, path).read


def main() -> None:
    """Run the comparison and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--child", nargs=2)
    given = parser.parse_args()
    if given.child:
        child(given.child[0], Path(given.child[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.ris"
        write_ris(path, given.records)
        write_ris(path.with_name("one.ris"), 1)
        print(f"{given.records} records, {path.stat().st_size / 1e6:.0f} MB")
        results = {}
        for code in ("rispy", "read", "import"):
            if code == "rispy" and importlib.util.find_spec("rispy") is None:
                print("rispy is not installed: no comparison")
                continue
            results[code] = timed_in_child(code, path)
            found = results[code]
            times = f"{found['seconds']:.1f} s ({found['cpu']:.1f} s of CPU)"
            print(f"{code}: {found['records']:.0f} records, {times}, {found['mib']:.0f} MiB")
        if "rispy" in results:
            wall, cpu = (results["read"][key] / results["rispy"][key] for key in ("seconds", "cpu"))
            print(f"reading takes {wall:.2f} times as long as rispy ({cpu:.2f} times its CPU)")


if __name__ == "__main__":
    main()
