"""What the framework leaves of an engine's throughput, beside a bare client on the same prompts; medians of interleaved pairs.

usage: throughput.py delay MILLISECONDS [RECORDS] [PAIRS]   a local server that answers after so long, 64 in flight
       throughput.py server URL MODEL [PAIRS]               a real server: 200 prompts each time, fresh ones
       throughput.py order URL MODEL [PAIRS]                shared text first against the document first, and the cached share
       throughput.py flips URL MODEL [RECORDS]             the same records run twice: how many verdicts differ
       throughput.py offline FOLDER [PAIRS]                 the offline backend against bare LLM.chat (in vLLM's environment)

Every run of litcascade is a whole one: all replies and verdicts are in the store when the clock stops. Ratios above 1 mean that
litcascade was faster.
"""

import asyncio
import json
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from litcascade.backends.http import payload
from litcascade.schemas import LabelShape, Message, ModelRef, ModelSpec, Reply, Request, Sampling, say

IN_FLIGHT = 64
PROMPTS, MANY = 50, 200
FRESH = f"{time.time():.0f}"  # prompts of an earlier call of this script are in a server's cache
TOPICS = ("zinc lozenges", "iron drops", "honey syrup", "salt water", "warm tea", "cold packs", "rest in bed", "steam")
WORDS = (
    "adults", "children", "nurses", "trial", "cohort", "placebo", "days", "fever", "throat", "dose", "weeks", "clinic", "school",
    "pain", "scale", "blind", "random", "group", "measured", "reported", "baseline", "follow-up", "outcome", "sample", "median",
    "adverse", "event", "tablet", "spoon", "winter", "town", "survey", "visit",
)  # fmt: skip
CRITERIA = [
    ("include", f"Was done with {who} who had {what} for no longer than {days} days before they were taken in.")
    for who, what, days in (("adults", "a sore throat", 3), ("school children", "a cough", 5), ("nurses", "a cold", 7))
] + [
    ("include", "Compares the remedy with another one, with no treatment or with a placebo, given in the same way and as long."),
    ("include", "Tells the days until people were well again, or a score of pain on a scale that is named in the report."),
    ("exclude", "Is a review, a letter, a comment, a protocol without results, or the abstract of a talk alone."),
    ("exclude", "Gave the remedy together with an antibiotic, so that what it did alone cannot be told from the numbers."),
    ("exclude", "Was done in animals or in cells, or with healthy people who were given a cold on purpose."),
]


def abstract(draw: random.Random, words: int = 150) -> str:
    """Made-up words, different every time and of the same length."""
    return " ".join(draw.choice(WORDS) for _ in range(words))


def protocol(url: str, model: str) -> str:
    """A review with criteria of common length."""
    criteria = "".join(
        f'[[criteria]]\nid = "C{number}"\nkind = "{kind}"\ntext = "{text}"\n' for number, (kind, text) in enumerate(CRITERIA)
    )
    return (
        '[review]\ntitle = "Throughput"\nquestion = "Do simple remedies help people with a sore throat or a cold?"\n'
        f'{criteria}[models.m]\nbackend = "http"\nendpoints = ["{url}"]\nmodel = "{model}"\ncontext = 2048\n'
        f"concurrency = {IN_FLIGHT}\ntimeout = 600\n"
        '[readers.one]\nmodel = "m"\n[stages.title_abstract]\nreaders = ["one"]\n'
    )


def lay_out(folder: Path, url: str, model: str, count: int, seed: str) -> Any:
    """A review with so many records."""
    from litcascade.pipeline.review import open_review

    draw = random.Random(seed)
    folder.mkdir(parents=True)
    (folder / "review.toml").write_text(protocol(url, model), encoding="utf-8")
    review = open_review(folder)
    with review.open(create=True) as store:
        rows = [
            {
                "record_id": f"r{i}", "title": f"{draw.choice(TOPICS)} {seed} {i}", "abstract": abstract(draw),
                "abstract_status": "ok", "authors": [],
            }
            for i in range(count)
        ]  # fmt: skip
        store.append("records", rows)
    return review


def ours(review: Any, count: int) -> tuple[float, dict[str, int]]:
    """Requests a second of a whole run, with its tokens."""
    from litcascade.pipeline.run import run_review

    with review.open() as store:
        started = time.perf_counter()
        outcome = asyncio.run(run_review(review, store, probed=False))
        seconds = time.perf_counter() - started
        stored = store.value("select count(*) from title_abstract where state <> 'pending'")
        calls = store.value("select count(*) from calls where raw is not null")
    if outcome.status != "complete" or stored != count or calls < count:
        raise SystemExit(f"the run ended {outcome.status} with {stored} verdicts and {calls} replies")
    spent = outcome.spent
    return outcome.spent.calls / seconds, {"prompt": spent.prompt_tokens, "cached": spent.cached_tokens}


def questions(review: Any, model: str) -> list[dict[str, Any]]:
    """The bodies that the run of a review would send."""
    from litcascade.pipeline.binding import bind
    from litcascade.pipeline.lives import Life
    from litcascade.pipeline.subjects import load_subjects

    with review.open() as store:
        stage = bind(review, {"m": ModelRef(name=model)}, store)[0].stage
        ids = [row[0] for row in store.rows("select record_id from records order by seq")]
        subjects = load_subjects(store, stage.name, ids)
    spec = review.protocol.models["m"]
    return [payload(spec, request) for subject in subjects for _, request in Life(stage, subject).advance()]


async def bare(url: str, bodies: Sequence[dict[str, Any]]) -> tuple[float, list[dict[str, Any]]]:
    """Requests a second of a client that only keeps the server full, and what came."""
    slots = asyncio.Semaphore(IN_FLIGHT)
    timeout = aiohttp.ClientTimeout(total=600)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:

        async def one(body: dict[str, Any]) -> dict[str, Any]:
            async with slots, session.post(f"{url}/chat/completions", json=body) as response:
                content: dict[str, Any] = json.loads(await response.text())
                return content

        started = time.perf_counter()
        came = await asyncio.gather(*(one(body) for body in bodies))
        return len(bodies) / (time.perf_counter() - started), list(came)


def report(name: str, pairs: Sequence[tuple[float, float]], unit: str = "requests/s") -> None:
    """Medians and the median of the ratios."""
    ratios = [one / other for one, other in pairs]
    first, second = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    print(
        f"{name}: {first:,.2f} against {second:,.2f} {unit}, ratio {statistics.median(ratios):.3f} ({spread}, n = {len(pairs)})"
    )


def interleaved(pairs: int, first: Callable[[int], float], second: Callable[[int], float]) -> list[tuple[float, float]]:
    """Pairs of both, the order changed every time."""
    found = []
    for number in range(pairs):
        if number % 2:
            other = second(number)
            found.append((first(number), other))
        else:
            one = first(number)
            found.append((one, second(number)))
        print(f"  pair {number + 1}: {found[-1][0]:,.2f} and {found[-1][1]:,.2f}", flush=True)
    return found


def serve_slowly(delay: float, port: "multiprocessing.Queue[int]") -> None:
    """A server that answers every question after so many seconds."""
    from aiohttp import web

    message = {"role": "assistant", "content": "yes"}
    top = [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -2.3}]
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": [{**top[0], "top_logprobs": top}]}}
    text = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 400, "completion_tokens": 2}})

    async def chat(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(delay)
        return web.Response(text=text, content_type="application/json")

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "m"}]})

    async def version(_: web.Request) -> web.Response:
        return web.json_response({"version": "0"})

    async def go() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_get("/v1/models", models)
        app.router.add_get("/version", version)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port.put(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(go())


def delay(milliseconds: float, count: int, pairs: int) -> None:
    """Against a local server that answers after a while."""
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[int] = context.Queue()
    server = context.Process(target=serve_slowly, args=(milliseconds / 1000, told), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{told.get(timeout=60)}/v1"
    try:
        with tempfile.TemporaryDirectory() as name:
            ours(lay_out(Path(name) / "warm", url, "m", 64, "warm"), 64)  # libraries are loaded once
            bodies = questions(lay_out(Path(name) / "bare", url, "m", count, "bare"), "m")

            def run(number: int) -> float:
                return ours(lay_out(Path(name) / f"r{number}", url, "m", count, "bare"), count)[0]

            found = interleaved(pairs, run, lambda _: asyncio.run(bare(url, bodies))[0])
        report(f"a server that answers after {milliseconds:g} ms, {count} records, all stored, against bare aiohttp", found)
    finally:
        server.terminate()
        server.join()


def server(url: str, model: str, pairs: int) -> None:
    """Against a real server; every run has records that it has not seen."""
    with tempfile.TemporaryDirectory() as name:
        ours(lay_out(Path(name) / "warm", url, model, 4, "warm"), 4)

        def run(number: int) -> float:
            return ours(lay_out(Path(name) / f"ours{number}", url, model, MANY, f"{FRESH} ours {number}"), MANY)[0]

        def alone(number: int) -> float:
            bodies = questions(lay_out(Path(name) / f"bare{number}", url, model, MANY, f"{FRESH} bare {number}"), model)
            return asyncio.run(bare(url, bodies))[0]

        report(f"{MANY} prompts on {model}, all stored, against bare aiohttp", interleaved(pairs, run, alone))


def order(url: str, model: str, pairs: int) -> None:
    """Shared text first against the document first, and how much of what could be shared was cached."""
    shares: list[float] = []
    root = url.removesuffix("/v1")
    with tempfile.TemporaryDirectory() as name:
        ours(lay_out(Path(name) / "warm", url, model, 4, "warm"), 4)

        def run(number: int) -> float:
            review = lay_out(Path(name) / f"ours{number}", url, model, PROMPTS, f"{FRESH} order {number}")
            shareable = asyncio.run(_shareable(root, questions(review, model)))
            rate, tokens = ours(review, PROMPTS)
            shares.append(tokens["cached"] / shareable)
            return rate

        def turned(number: int) -> float:
            review = lay_out(Path(name) / f"turned{number}", url, model, PROMPTS, f"{FRESH} turned {number}")
            bodies = [document_first(body) for body in questions(review, model)]
            return asyncio.run(bare(url, bodies))[0]

        found = interleaved(pairs, run, turned)
    report("shared text first against the document first", found)
    print(f"cached share of the tokens that could be shared: median {statistics.median(shares):.3f}, lowest {min(shares):.3f}")


def flips(url: str, model: str, count: int) -> None:
    """Two runs over the same records on one server, the second with fewer in flight, so that batches differ."""
    from litcascade.pipeline.review import open_review

    found = []
    with tempfile.TemporaryDirectory() as name:
        for turn in range(2):
            review = lay_out(Path(name) / f"r{turn}", url, model, count, "flips")
            if turn:
                text = (review.folder / "review.toml").read_text(encoding="utf-8")
                changed = text.replace(f"concurrency = {IN_FLIGHT}", "concurrency = 7")
                (review.folder / "review.toml").write_text(changed, encoding="utf-8")
                review = open_review(review.folder)
            ours(review, count)
            with review.open() as store:
                found.append({row[0]: row[1:] for row in store.rows("select record_id, state, score from title_abstract")})
    first, second = found
    flipped = sum(first[key][0] != second[key][0] for key in first)
    moved = [abs(first[key][1] - second[key][1]) for key in first if None not in (first[key][1], second[key][1])]
    print(
        f"{count} records twice on {model}, {IN_FLIGHT} and 7 in flight: {flipped} verdict(s) differ ({flipped / count:.1%}); "
        f"scores differ by {statistics.median(moved):.4f} in the median, {max(moved):.4f} at most"
    )


def document_first(body: dict[str, Any]) -> dict[str, Any]:
    """The same words with the record before the criteria."""
    system, *_, last = body["messages"]
    return {**body, "messages": [{"role": "user", "content": f"{last['content']}\n{system['content']}"}]}


async def _shareable(root: str, bodies: Sequence[dict[str, Any]]) -> int:
    """Prompt tokens that all questions begin with, for every question (the shared text is in the cache from the warm-up)."""
    async with aiohttp.ClientSession() as session:
        read: list[list[int]] = []
        for body in bodies:
            asked = {"model": body["model"], "messages": body["messages"]}
            async with session.post(f"{root}/tokenize", json=asked) as response:
                read.append((await response.json())["tokens"])
    shared = 0
    while all(len(tokens) > shared and tokens[shared] == read[0][shared] for tokens in read):
        shared += 1
    print(f"  {shared} tokens of {statistics.median(map(len, read)):.0f} are shared by all {len(read)} prompts")
    return shared * len(read)


def offline(folder: str, pairs: int) -> None:
    """The offline backend against bare LLM.chat, on the same engine."""
    asyncio.run(_offline(folder, pairs))


async def _offline(folder: str, pairs: int) -> None:
    from litcascade.backends.offline import OfflineBackend

    options = {"dtype": "bfloat16", "enforce_eager": True, "block_size": 32, "gpu_memory_utilization": 0.4}
    spec = ModelSpec(backend="vllm", model="m", weights=folder, context=2048, vllm=options)
    backend = OfflineBackend("m", spec, Path())

    async def ours_(number: int) -> float:
        requests = made_up(f"ours {number}")
        started = time.perf_counter()
        came = [reply async for _, reply in backend.ask(requests)]
        seconds = time.perf_counter() - started
        if not all(isinstance(reply, Reply) and reply.text for reply in came):
            raise SystemExit("not every question was answered")
        return len(came) / seconds

    async def alone(number: int) -> float:
        requests = made_up(f"bare {number}")
        sampling = [backend._sampling(request) for request in requests]
        messages = [[{"role": m.role, "content": m.content} for m in request.messages] for request in requests]
        started = time.perf_counter()
        await asyncio.to_thread(backend._llm.chat, messages, sampling, use_tqdm=False)
        return len(requests) / (time.perf_counter() - started)

    try:
        await ours_(-1)
        found: list[tuple[float, float]] = []
        for number in range(pairs):
            turns: list[Callable[[int], Awaitable[float]]] = [ours_, alone] if number % 2 == 0 else [alone, ours_]
            rates = [await turn(number) for turn in turns]
            found.append((rates[0], rates[1]) if number % 2 == 0 else (rates[1], rates[0]))
            print(f"  pair {number + 1}: {found[-1][0]:,.2f} and {found[-1][1]:,.2f}", flush=True)
        report(f"{PROMPTS} prompts offline against bare LLM.chat", found)
    finally:
        await backend.close()


def made_up(seed: str) -> list[Request]:
    """Questions with a shared system part, as a screening stage asks them."""
    draw = random.Random(seed)
    system = "Screen records.\n" + "\n".join(f"{kind}: {text}" for kind, text in CRITERIA)
    shape, sampling = LabelShape(labels=("yes", "no")), Sampling(max_tokens=8, top_logprobs=20)

    def messages(number: int) -> tuple[Message, ...]:
        return say("system", system), say("user", f"{seed} {number}\n{abstract(draw)}\nyes or no?")

    return [Request(model=ModelRef(name="m"), messages=messages(i), shape=shape, sampling=sampling) for i in range(PROMPTS)]


def main() -> None:
    """Measure and print."""
    what, *rest = sys.argv[1:] or [""]
    if what == "delay" and rest:
        count = int(rest[1]) if len(rest) > 1 else 3840
        delay(float(rest[0]), count, int(rest[2]) if len(rest) > 2 else 5)
    elif what in ("server", "order") and len(rest) > 1:
        {"server": server, "order": order}[what](rest[0], rest[1], int(rest[2]) if len(rest) > 2 else 5)
    elif what == "flips" and len(rest) > 1:
        flips(rest[0], rest[1], int(rest[2]) if len(rest) > 2 else 100)
    elif what == "offline" and rest:
        offline(rest[0], int(rest[1]) if len(rest) > 1 else 5)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
