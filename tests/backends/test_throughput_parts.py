"""What keeps engines busy: the order of a round, endpoints balanced by tokens, the bound on requests in flight, their own figures."""

import asyncio
import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from litcascade.backends.http import HttpBackend
from litcascade.backends.limits import Limiter
from litcascade.backends.load import Load, hit_rate, read_load
from litcascade.backends.ordering import in_order, weight
from litcascade.schemas import LabelShape, ModelRef, ModelSpec, Reply, Request, Sampling, say
from tests.support.server import Body, ModelServer, Say

MODEL = ModelRef(name="m", engine="vllm 0.32.0")


def request(system: str, text: str, max_tokens: int = 8) -> Request:
    sampling = Sampling(max_tokens=max_tokens)
    shape = LabelShape(labels=("yes", "no"))
    return Request(model=MODEL, messages=(say("system", system), say("user", text)), shape=shape, sampling=sampling)


def shared(first: Request, second: Request) -> int:
    """Characters that two requests have in common at their beginning."""
    one, two = ("\0".join(message.content for message in each.messages) for each in (first, second))
    return next((place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))


@given(st.lists(st.tuples(st.sampled_from(["one", "two"]), st.text(max_size=20)), max_size=20))
def test_order_loses_nothing(parts: list[tuple[str, str]]) -> None:
    requests = [request(*part) for part in parts]
    assert sorted(r.key for r in in_order(requests)) == sorted(r.key for r in requests)


def test_what_begins_alike_stands_together_and_the_longest_first() -> None:
    reports = [f"{name} " * 300 for name in ("zinc", "iron", "gold")]
    requests = [
        request(system, f"{report}Question {number}: {'? ' * 600 * number}")
        for system in ("criteria", "other criteria") for report in reports for number in range(5)
    ]  # fmt: skip
    random.Random(1).shuffle(requests)
    ordered = in_order(requests)
    alike = sum(shared(one, two) for one, two in itertools.pairwise(ordered))
    best = sum(
        shared(one, two) for one, two in itertools.pairwise(sorted(requests, key=lambda r: [m.content for m in r.messages]))
    )
    assert alike >= 0.99 * best
    assert alike > 2 * sum(shared(one, two) for one, two in itertools.pairwise(requests))
    lengths = [len(r.messages[-1].content) for r in ordered[:5]]
    assert lengths == sorted(lengths, reverse=True)


def test_endpoints_are_balanced_by_tokens_and_not_by_requests() -> None:
    with ModelServer() as one, ModelServer() as two:

        def slow(body: Body) -> Say:
            return Say("yes", delay=0.5 if len(str(body)) > 9000 else 0.02)

        one.answer = two.answer = slow
        spec = ModelSpec(backend="http", model="m", endpoints=(one.url, two.url), concurrency=4)
        backend = HttpBackend("m", spec)
        long = request("s", "x" * 10_000)
        short = [request("s", f"question {number}") for number in range(40)]

        async def go() -> None:
            try:
                came = {key: reply async for key, reply in backend.ask([*short, long])}
            finally:
                await backend.close()
            assert all(isinstance(reply, Reply) for reply in came.values())

        asyncio.run(go())
        busy, free = sorted((one.asked, two.asked), key=len)
        assert len(busy) + len(free) == 41
        assert any(len(str(body)) > 9000 for body in busy)
        assert len(busy) <= 3  # as long as it works at the long one, the other endpoint takes the rest
    assert weight(long) == (10_000 + 1) // 4 + 8


async def _drive(limiter: Limiter, clock: list[float], rate: float, requests: int) -> None:
    """A server that answers at most so many requests a second, however many are in flight; time is made up."""
    in_line = asyncio.Semaphore(1)

    async def one() -> None:
        async with limiter.slot(), in_line:
            await asyncio.sleep(0)
            clock[0] += 1 / rate
        limiter.went_well()

    await asyncio.gather(*(one() for _ in range(requests)))


def test_the_bound_stops_growing_at_the_knee() -> None:
    clock = [0.0]
    limiter = Limiter(4096, start=16, clock=lambda: clock[0])
    asyncio.run(_drive(limiter, clock, rate=100.0, requests=2000))
    assert limiter.limit < 100  # more in flight brings nothing here


def test_the_bound_doubles_while_more_brings_more_and_halves_on_overload() -> None:
    clock = [0.0]
    limiter = Limiter(1000, start=16, clock=lambda: clock[0])

    async def go() -> None:
        async def one() -> None:
            async with limiter.slot():
                await asyncio.sleep(0)
            clock[0] += 0.5 / limiter.limit  # as long a round however many are in it
            limiter.went_well()

        await asyncio.gather(*(one() for _ in range(4000)))

    asyncio.run(go())
    assert limiter.limit > 500
    before = limiter.limit
    limiter.overloaded()
    assert limiter.limit == before / 2
    limiter.overloaded()  # of the same round
    assert limiter.limit == before / 2


def test_faults_now_and_then_leave_the_bound_alone_and_many_are_taken_for_overload() -> None:
    clock = [0.0]
    limiter = Limiter(64, clock=lambda: clock[0])
    for number in range(3000):
        clock[0] += 0.01
        if number % 20 == 7:
            limiter.faulted()
        else:
            limiter.went_well()
    assert limiter.limit == 64
    for _ in range(100):
        limiter.faulted()
    assert limiter.limit == 32  # once a round, and nothing was answered since
    for number in range(400):
        (limiter.faulted if number % 3 == 0 else limiter.went_well)()
    assert limiter.limit < 16


METRICS = """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 1.0
vllm:num_requests_waiting{engine="0",model_name="m"} 7.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 2000.0
vllm:prefix_cache_queries_created{engine="0",model_name="m"} 1.7e9
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 1500.0
vllm:prompt_tokens_total{engine="0",model_name="m"} 2100.0
vllm:generation_tokens_total{engine="0",model_name="m"} 90.0
process_open_fds 12.0
"""


def test_a_servers_own_figures_are_read() -> None:
    load = read_load("u", METRICS)
    assert load == Load("u", 4, 7, 0.25, 2000, 1500, 2100, 90)
    assert read_load("u", "process_open_fds 12.0\n") is None
    assert hit_rate([Load("u", looked_up=1000, found=900)], [load]) == 0.6
    assert hit_rate([Load("u", looked_up=9000, found=900)], [load]) == 0.75  # it was started anew: all it has counts
    assert hit_rate([], [load]) is None
    assert hit_rate([load], [load]) is None


def test_a_server_that_loses_one_request_in_ten_is_kept_full(server: ModelServer) -> None:
    seen: dict[str, int] = {}

    def answer(body: Body) -> Say:
        text = str(body["messages"][-1]["content"])
        seen[text] = seen.get(text, 0) + 1
        if len(seen) == 400:
            server.most_at_once = 0  # looked at from here on: what came before has had time to narrow the bound
        return Say(status=500) if len(seen) % 10 == 0 and seen[text] == 1 else Say(delay=0.25)

    server.answer = answer

    async def go() -> int:
        spec = ModelSpec(backend="http", model="m", endpoints=(server.url,), concurrency=64)
        backend = HttpBackend("m", spec, pause=0.01)
        try:
            came = [reply async for _, reply in backend.ask([request("criteria", f"record {n}") for n in range(800)])]
        finally:
            await backend.close()
        return sum(isinstance(reply, Reply) for reply in came)

    assert asyncio.run(go()) == 800
    assert sum(seen.values()) > 860
    assert server.most_at_once > 40
