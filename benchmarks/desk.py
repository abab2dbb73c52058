"""The desk under load: many reviewers who decide at once over HTTP on this machine, and how long a queue takes to open.

usage: desk.py [--reviewers 20] [--rate 5] [--seconds 30] [--records 10000]

Makes a review of invented records that wait for people, opens the desk over it in a process of its own, and has every reviewer
decide at an even pace, all together `--rate` decisions a second. Prints how long decisions (form sent to next page shown) and
pages took, and compares what the store holds with what was sent. Run it with `--seconds 300` on an idle machine.
"""

import argparse
import asyncio
import csv
import re
import signal
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import httpx

from litcascade.backends.scripted import ScriptedBackend
from litcascade.pipeline.importing import import_records
from litcascade.pipeline.review import open_review
from litcascade.pipeline.run import run_review
from litcascade.schemas import Reply

PROTOCOL = """
[review]
title = "Load"
question = "Does zinc help adults with a sore throat?"
[[criteria]]
id = "I1"
kind = "include"
text = "Adults took zinc lozenges or syrup."
[[criteria]]
id = "E1"
kind = "exclude"
text = "Is a review, a comment or an animal study."
[models.m]
backend = "http"
model = "m"
endpoints = ["http://127.0.0.1:9/v1"]
[readers.one]
model = "m"
prompt = "inclusion"
[stages.title_abstract]
readers = ["one"]
positives = "people"
"""
SENTENCE = "Background. Zinc is given for a sore throat. Methods. Adults took lozenges for five days. Results. Pain was less. "


def make(folder: Path, records: int) -> None:
    """A review in which every record was included by a model and waits for a person."""
    (folder / "review.toml").write_text(PROTOCOL, encoding="utf-8")
    with (folder / "records.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["record_id", "title", "abstract"])
        writer.writerows([f"r{i}", f"Zinc lozenges, trial {i}", SENTENCE * 12] for i in range(records))
    review = open_review(folder)
    with review.open(create=True) as store:
        import_records(store, folder / "records.csv")
        backend = ScriptedBackend(lambda request: Reply(key=request.key, text="yes"))
        asyncio.run(run_review(review, store, backends={"m": backend}, probed=False))


async def open_desk(folder: Path, reviewers: int) -> tuple[asyncio.subprocess.Process, list[str]]:
    """The desk's process and the links it printed."""
    users = [word for i in range(reviewers) for word in ("--user", f"P{i}:reviewer")]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-u", "-m", "litcascade", "desk", "--review", str(folder), "--port", "0", *users,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    links: list[str] = []
    assert process.stdout
    while len(links) < reviewers:
        line = (await process.stdout.readline()).decode()
        if not line:
            raise SystemExit("the desk did not open")
        links += re.findall(r"http://\S+", line)
    return process, links


async def review(client: httpx.AsyncClient, pace: float, start: float, ends: float, took: list[float]) -> int:
    """One reviewer's sitting: read a page, decide, and so on; how many decisions were taken."""
    await asyncio.sleep(start)
    page = await client.get("/queue/positives")
    done = 0
    due = time.monotonic()
    while time.monotonic() < ends:
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.text.partition('class="decide')[2]))
        if "form" not in fields:
            break
        began = time.perf_counter()
        page = await client.post("/queue/positives", data={**fields, "decision": "include" if done % 3 else "exclude"})
        took.append(time.perf_counter() - began)
        if page.status_code != 200 or "Stored" not in page.text:
            raise SystemExit(f"a decision was not taken: {page.status_code}")
        done += 1
        due += pace
        await asyncio.sleep(max(0.0, due - time.monotonic()))
    return done


async def work(folder: Path, reviewers: int, rate: float, seconds: float) -> tuple[int, list[float], dict[str, float]]:
    """All reviewers at once; decisions taken, seconds of each, seconds of single pages before."""
    process, links = await open_desk(folder, reviewers)
    took: list[float] = []
    pages: dict[str, float] = {}
    clients = [httpx.AsyncClient(base_url=link.partition("/enter")[0], follow_redirects=True, timeout=60) for link in links]
    try:
        for client, link in zip(clients, links, strict=True):
            (await client.get(link)).raise_for_status()
        for path in ("/", "/queue/positives", "/list/positives", "/list/positives?page=100", "/progress"):
            began = time.perf_counter()
            (await clients[0].get(path)).raise_for_status()
            pages[path] = time.perf_counter() - began
        pace = reviewers / rate
        ends = time.monotonic() + seconds
        sittings = [review(client, pace, i * pace / reviewers, ends, took) for i, client in enumerate(clients)]
        done = sum(await asyncio.gather(*sittings))
    finally:
        for client in clients:
            await client.aclose()
        process.send_signal(signal.SIGINT)
        await process.wait()
    return done, took, pages


def main() -> None:
    """Run it and print the figures; a decision that is lost ends with an error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reviewers", type=int, default=20)
    parser.add_argument("--rate", type=float, default=5.0, help="decisions a second, all together")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--records", type=int, default=10_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, given.records)
        done, took, pages = asyncio.run(work(folder, given.reviewers, given.rate, given.seconds))
        with open_review(folder).open() as store:
            kept = int(store.value("select count(*) from adjudications"))
            beside = int(store.value("select count(*) from opinions"))
            decided = int(store.value("select count(*) from title_abstract where decided_by <> 'model'"))
    for path, seconds in pages.items():
        print(f"first {path} of {given.records:,} records: {seconds * 1000:.0f} ms")
    cuts = [seconds * 1000 for seconds in quantiles(took, n=100)]
    print(
        f"{given.reviewers} reviewers, {done} decisions in {given.seconds:.0f} s ({done / given.seconds:.1f} a second): "
        f"median {median(took) * 1000:.0f} ms, p95 {cuts[94]:.0f} ms, p99 {cuts[98]:.0f} ms, worst {max(took) * 1000:.0f} ms"
    )
    print(f"in the store: {kept} decisions and {beside} beside them, {decided} records decided")
    if kept + beside != done:
        raise SystemExit(f"{done - kept - beside} decision(s) were lost")


if __name__ == "__main__":
    main()
