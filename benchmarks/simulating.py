"""Whether runs played through come true: durations of a small run, the time foretold for a larger one, and what it really took.

usage: simulating.py                   local engines (1, 2 and 4) with 16 slots each and uneven durations, one of them failing 5 %
       simulating.py server URL MODEL  a real server: 40 records are measured, 120 more are foretold and run

Prints for each: seconds foretold with their range, seconds measured, and their ratio (above 1: foretold longer than it took).
"""

import asyncio
import json
import multiprocessing
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from throughput import IN_FLIGHT, lay_out, ours

from litcascade.pipeline.binding import bind
from litcascade.pipeline.foretelling.foretelling import DRIVER
from litcascade.pipeline.foretelling.measuring import Pace, measured_pace
from litcascade.pipeline.foretelling.simulating import Plan, foretell
from litcascade.pipeline.review import open_review
from litcascade.schemas import ModelRef

SLOTS = 16
SMALL, LARGE = 300, 1500


def serve_unevenly(count: int, ports: "multiprocessing.Queue[list[int]]") -> None:
    """Engines that work on so many requests at once, each for a lognormal time of about half a second; the rest wait in line."""
    from aiohttp import web

    draw = random.Random(7)

    def engine() -> Any:
        slots = asyncio.Semaphore(SLOTS)

        async def chat(request: web.Request) -> web.Response:
            failing = b"Failing" in await request.read()
            async with slots:
                await asyncio.sleep(draw.lognormvariate(-0.8, 0.5))
            if failing and draw.random() < 0.05:
                return web.Response(status=500, text="engine fault")
            top = [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -2.3}]
            choice = {
                "index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop",
                "logprobs": {"content": [{**top[0], "top_logprobs": top}]},
            }  # fmt: skip
            body = {"choices": [choice], "usage": {"prompt_tokens": 400, "completion_tokens": 2}}
            return web.Response(text=json.dumps(body), content_type="application/json")

        async def models(_: web.Request) -> web.Response:
            return web.json_response({"data": [{"id": "m"}]})

        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_get("/v1/models", models)
        return app

    async def go() -> None:
        found = []
        for _ in range(count):
            runner = web.AppRunner(engine(), access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            found.append(runner.addresses[0][1])
        ports.put(found)
        await asyncio.Event().wait()

    asyncio.run(go())


def pace_of(review: Any, model: str) -> Pace:
    """What the calls of a review tell of its engine."""
    with review.open() as store:
        item = bind(review, {"m": ModelRef(name=model)}, store)[0]
        pace = measured_pace(store, review, item, 0.0)
    if pace is None:
        raise SystemExit("too few calls were measured")
    print(f"  measured: {pace.calls} calls, {pace.measured.in_flight:.1f} in flight, {pace.measured.rate:.2f} requests/s")
    return pace


def compare(name: str, pace: Pace, plan: Plan, seconds: float) -> None:
    """One line: foretold, measured, ratio."""
    told = foretell(pace.measured, plan)
    print(
        f"{name}: foretold {told.seconds:.1f} s ({told.low:.1f} to {told.high:.1f}), took {seconds:.1f} s, "
        f"ratio {told.seconds / seconds:.3f}",
        flush=True,
    )


def spread(folder: Path, urls: list[str], count: int, seed: str) -> Any:
    """A review of so many records over several endpoints, with room for all of them in flight."""
    lay_out(folder, urls[0], "m", count, seed)
    text = (folder / "review.toml").read_text(encoding="utf-8")
    text = text.replace(f'["{urls[0]}"]', json.dumps(urls)).replace(
        f"concurrency = {IN_FLIGHT}", f"concurrency = {IN_FLIGHT * len(urls)}"
    )
    (folder / "review.toml").write_text(text, encoding="utf-8")
    return open_review(folder)


def local() -> None:
    """Engines of this machine that sleep: measured on one, foretold and run on one, two and four."""
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[list[int]] = context.Queue()
    server = context.Process(target=serve_unevenly, args=(4, told), daemon=True)
    server.start()
    urls = [f"http://127.0.0.1:{port}/v1" for port in told.get(timeout=60)]
    try:
        with tempfile.TemporaryDirectory() as name:
            ours(lay_out(Path(name) / "warm", urls[0], "m", 64, "warm"), 64)
            small = spread(Path(name) / "small", urls[:1], SMALL, "small")
            ours(small, SMALL)
            pace = pace_of(small, "m")
            for count in (1, 2, 4):
                rate, _ = ours(spread(Path(name) / f"r{count}", urls[:count], LARGE, f"large {count}"), LARGE)
                plan = Plan(LARGE, count, driver=DRIVER)
                compare(f"{LARGE} records on {count} engine(s)", pace, plan, LARGE / rate)
            rate, _ = ours(spread(Path(name) / "failing", urls[:2], LARGE, "Failing"), LARGE)
            compare(f"{LARGE} records on 2 engines that fail 5 %", pace, Plan(LARGE, 2, fail=0.05, driver=DRIVER), LARGE / rate)
    finally:
        server.terminate()
        server.join()


def real(url: str, model: str) -> None:
    """A real server: measured on a few records, foretold and run on more."""
    with tempfile.TemporaryDirectory() as name:
        ours(lay_out(Path(name) / "warm", url, model, 4, "warm"), 4)
        small = lay_out(Path(name) / "small", url, model, 40, "small")
        ours(small, 40)
        pace = pace_of(small, model)
        rate, _ = ours(lay_out(Path(name) / "large", url, model, 120, "large"), 120)
        compare(f"120 records on {model}", pace, Plan(120, 1, driver=DRIVER), 120 / rate)


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["server"] and len(sys.argv) == 4:
        real(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 1:
        local()
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
