"""A grid run, shown, chosen from and resampled, with scripted readers whose quality is known."""

import asyncio
import hashlib
import json
import math
from typing import Any

import pytest

from litcascade.backends.scripted import ScriptedBackend
from litcascade.errors import InputError
from litcascade.pipeline.bench.choosing import Wishes, choose_rule
from litcascade.pipeline.bench.fragment import protocol_fragment
from litcascade.pipeline.bench.resampling import Plan, resample_bench
from litcascade.pipeline.bench.running import BenchOutcome, bench_of, run_bench
from litcascade.pipeline.bench.splitting import frozen_splits
from litcascade.pipeline.bench.summary import summarise
from litcascade.schemas import Reply, Request, TokenLogprobs
from litcascade.schemas.bench import BenchSpec
from tests.support.reviews import ABSTRACTS, ReviewFolder

GRID = """
[models.weak]
backend = "http"
model = "weak"
family = "W"
size = 1.0
endpoints = ["http://127.0.0.1:9/v1"]
[bench]
models = ["m", "weak"]
prompts = ["basic", "inclusion"]
shots = [0, 2]
[bench.splits]
few_shot = 10
development = 60
evaluation = 60
"""
RECORDS = 140


def is_include(number: int) -> bool:
    return number % 4 == 0


def answer(request: Request) -> Reply:
    """`m` is right nineteen times in twenty, `weak` three times in four; its score says so."""
    text = next(m.content for m in reversed(request.messages) if "Zinc trial" in m.content)
    number = int(text.rpartition("Zinc trial ")[2].split()[0])
    seed = hashlib.sha256(f"{request.model.name} {request.messages[0].content[:60]} {number}".encode()).digest()[0] / 256
    right = seed < (0.95 if request.model.name == "m" else 0.75)
    share = 0.9 if is_include(number) == right else 0.1
    top = (("yes", math.log(share)), ("no", math.log(1 - share)))
    return Reply(
        key=request.key, text="yes" if share > 0.5 else "no", finish_reason="stop", prompt_tokens=100 + number,
        completion_tokens=1, logprobs=(TokenLogprobs(token="yes", top=top),),
    )  # fmt: skip


@pytest.fixture
def bench(folder: ReviewFolder) -> ReviewFolder:
    folder.protocol(ABSTRACTS, GRID)
    folder.records(RECORDS)
    folder.gold(
        [{"record_id": f"r{i}", "title_abstract": "include" if is_include(i) else "exclude"} for i in range(1, RECORDS + 1)]
    )
    return folder


def run(folder: ReviewFolder, backend: ScriptedBackend, **options: Any) -> BenchOutcome:
    review = folder.review
    with review.open() as store:
        backends = {"m": backend, "weak": backend}
        return asyncio.run(run_bench(review, store, backends=backends, probed=False, **options))


def spec(folder: ReviewFolder) -> BenchSpec:
    return bench_of(folder.review)


def test_every_cell_reads_its_splits_once_and_examples_come_from_the_few_shot_split(bench: ReviewFolder) -> None:
    backend = ScriptedBackend(answer)
    done = run(bench, backend)
    assert (done.status, done.cells, done.records) == ("complete", 8, 120)
    assert len(backend.asked) == 8 * 120
    again = run(bench, backend)
    assert (again.status, len(backend.asked)) == ("complete", 8 * 120)
    shown = bench.rows("select distinct unnest(examples) from bench_cells")
    splits = dict(bench.rows("select record_id, split from splits"))
    assert len(shown) == 2
    assert {splits[row[0]] for row in shown} == {"few_shot"}
    assert dict(bench.rows("select split, count(*) from splits group by 1")) == {
        "few_shot": 10, "development": 60, "evaluation": 60,
    }  # fmt: skip
    assert bench.rows("select count(*) from bench_readings where gold is not null and split <> 'few_shot'") == [(960,)]
    assert bench.rows("select count(*) from stage_versions") == [(0,)]


def test_a_grid_stopped_by_its_budget_goes_on_where_it_stopped(bench: ReviewFolder) -> None:
    bench.protocol(ABSTRACTS, GRID, "[budget]\ncalls = 300\n")
    backend = ScriptedBackend(answer)
    assert run(bench, backend).status == "budget"
    with bench.review.open() as store:
        found = summarise(store, spec(bench), "evaluation")
    assert found.cells.height + len(found.incomplete) == 8
    assert found.incomplete
    bench.protocol(ABSTRACTS, GRID)
    assert run(bench, backend).status == "complete"
    assert len(backend.asked) == 960


def test_the_table_counts_every_cell_and_failed_readings_count_as_positive(bench: ReviewFolder) -> None:
    def faulty(request: Request) -> Reply:
        reply = answer(request)
        broken = request.model.name == "weak" and reply.prompt_tokens == 108  # an include
        return reply.model_copy(update={"text": "hm", "logprobs": ()}) if broken else reply

    run(bench, ScriptedBackend(faulty))
    with bench.review.open() as store:
        found = summarise(store, spec(bench), "evaluation")
        other = summarise(store, spec(bench), "development")
    for row in [*found.cells.to_dicts(), *other.cells.to_dicts()]:
        assert row["tp"] + row["fn"] == 15
        assert row["fp"] + row["tn"] == 45
    by_model = {row["model"]: row["f@2"] for row in found.cells.to_dicts()}
    assert by_model["m"] > by_model["weak"]
    weak = [row for row in [*found.cells.to_dicts(), *other.cells.to_dicts()] if row["model"] == "weak"]
    assert sum(row["referred"] for row in weak) == 4
    assert all(row["reliability"] < 1 for row in weak if row["referred"])
    assert {gain.factor for gain in found.gains} == {"prompt", "shots"}
    assert {key for average in found.averages for key in average.by} >= {"model", "prompt", "shots"}
    kept = bench.rows("select count(*) from estimates where scope like 'bench evaluation %' and metric = 'recall'")
    assert kept == [(8,)]


def test_a_chosen_rule_is_frozen_and_runs_from_the_protocol(bench: ReviewFolder) -> None:
    backend = ScriptedBackend(answer)
    run(bench, backend)
    review = bench.review
    with review.open() as store:
        chosen = choose_rule(review, store, spec(bench), Wishes(target=0.7, strong=2, lenient=2, bins=2))
        assert chosen.rule_id is not None
        again = choose_rule(review, store, spec(bench), Wishes(target=0.7, strong=2, lenient=2, bins=2))
        assert again.rule_id == chosen.rule_id
        text = protocol_fragment(review, store, spec(bench), chosen.rule_id)
        frozen = store.rows("select stage, target, promised, pools from panel_rules")
    assert frozen[0][:3] == ("title_abstract", 0.7, chosen.promised)
    assert json.loads(frozen[0][3])["strong"] == list(chosen.pools.strong)
    certificate = chosen.certified.report
    assert chosen.promised
    assert certificate is not None
    assert certificate.recall.low is not None
    assert certificate.recall.low >= 0.7
    asked = len(backend.asked)
    bench.protocol(GRID, text)
    bench.run({"m": backend, "weak": backend})
    states = bench.states("title_abstract")
    assert set(states.values()) <= {"referred", "excluded"}
    assert {row[0] for row in bench.rows("select code from title_abstract where state = 'referred'")} == {
        "included by models, for a person to confirm"
    }
    assert len(backend.asked) - asked <= 2 * (RECORDS - 120)
    missed = [name for name, state in states.items() if is_include(int(name[1:])) and state == "excluded"]
    assert len(missed) <= 0.2 * RECORDS / 4


def test_readers_that_find_nothing_have_no_seat_in_a_pool(bench: ReviewFolder) -> None:
    run(bench, ScriptedBackend(lambda request: answer(request).model_copy(update={"text": "no", "logprobs": ()})))
    review = bench.review
    with review.open() as store, pytest.raises(InputError, match="strong pool of 3 needs 3 readers; there are 0 to choose from"):
        choose_rule(review, store, spec(bench), Wishes(target=1.0))


def test_a_target_that_only_reading_everything_reaches_is_said(bench: ReviewFolder) -> None:
    missed = bench_missed(bench)

    def blind(request: Request) -> Reply:
        """Nobody sees one of the includes, and votes have no scores."""
        text = next(m.content for m in reversed(request.messages) if "Zinc trial" in m.content)
        reply = answer(request).model_copy(update={"logprobs": ()})
        return reply.model_copy(update={"text": "no"}) if f"Zinc trial {missed}\n" in text else reply

    run(bench, ScriptedBackend(blind))
    review = bench.review
    with review.open() as store:
        chosen = choose_rule(review, store, spec(bench), Wishes(target=1.0, strong=2, lenient=2, bins=0))
    point = next(p for p in chosen.points if p.target == 1.0)
    assert point.note == "only reading every record reaches a recall of 1: no rule excludes anything there"
    assert not chosen.promised


def bench_missed(folder: ReviewFolder) -> int:
    """An include of the development split: the splits are drawn by seed and id, before anything is asked."""
    review = folder.review
    with review.open() as store:
        _, splits = frozen_splits(store, spec(folder))
    ids = [name for name, where in splits.rows() if where == "development" and is_include(int(name[1:]))]
    return int(sorted(ids)[0][1:])


def test_pools_larger_than_the_readers_and_splits_that_changed_are_refused(bench: ReviewFolder) -> None:
    backend = ScriptedBackend(answer)
    run(bench, backend)
    review = bench.review
    with review.open() as store, pytest.raises(InputError, match="strong pool of 30 needs 30 readers; there are 8"):
        choose_rule(review, store, spec(bench), Wishes(strong=30))
    bench.protocol(ABSTRACTS, GRID.replace("development = 60", "development = 50"))
    with pytest.raises(InputError, match="are frozen with"):
        run(bench, backend)
    assert run(bench, backend, redraw=True).records == 110
    assert bench.rows("select count(distinct version) from splits") == [(2,)]


def test_examples_of_the_evaluation_split_are_refused_in_runs_too(bench: ReviewFolder) -> None:
    run(bench, ScriptedBackend(answer))
    inside = bench.rows("select record_id from splits where split = 'evaluation' order by 1 limit 1")[0][0]
    bench.protocol(ABSTRACTS.replace('prompt = "inclusion"', f'prompt = "inclusion"\nshots = ["{inside}"]'))
    with pytest.raises(InputError, match=f"example '{inside}' belongs to the split 'evaluation'"):
        bench.run({"m": ScriptedBackend(answer)})


def test_a_grid_that_wants_more_examples_than_there_are_is_refused(bench: ReviewFolder) -> None:
    bench.protocol(ABSTRACTS, GRID.replace("shots = [0, 2]", "shots = [0, 40]"))
    with pytest.raises(InputError, match="needs 20 example\\(s\\) labelled include, but the few-shot split has"):
        run(bench, ScriptedBackend(answer))


def test_rationales_are_shown_with_their_quote_and_wrong_quotes_are_refused(bench: ReviewFolder) -> None:
    from litcascade.pipeline.rationales import import_rationales

    rows = [
        {"record_id": f"r{i}", "quote": f"took zinc in trial {i}" if i != 7 else "took copper", "reasoning": f"Because of {i}."}
        for i in range(1, RECORDS + 1)
    ]
    path = bench.table("rationales.csv", rows)
    review = bench.review
    with review.open() as store:
        receipt = import_rationales(review, store, path, "Ada")
    assert receipt.rationales == RECORDS - 1
    assert receipt.refused == [(8, "the quote does not stand in the record's title, abstract or full text")]
    bench.protocol(ABSTRACTS, GRID.replace("shots = [0, 2]", "shots = [2]\nrationales = [false, true]"))
    backend = ScriptedBackend(answer)
    assert run(bench, backend).cells == 8
    told = "json_extract_string(request, '$.messages') like '%Why a person decided%'"
    assert bench.rows(f"select count(*) from calls where {told}") == [(4 * 120,)]
    assert bench.rows(f"select count(*) from calls where {told} and request::text like '%<quote>%'") == [(4 * 120,)]


def test_resampling_over_the_grid_is_seeded_and_kept(bench: ReviewFolder) -> None:
    run(bench, ScriptedBackend(answer))
    review = bench.review
    with review.open() as store:
        found, analysis = resample_bench(review, store, spec(bench), Plan(repeats=20, pool=(2, 4), bins=(1, 2)))
        again, _ = resample_bench(review, store, spec(bench), Plan(repeats=20, pool=(2, 4), bins=(1, 2)))
    assert found.frame.height == 20
    assert found.frame.equals(again.frame)
    assert len(analysis.means) == 4
    assert bench.rows("select count(*) from estimates where scope like 'bench resampling %'")[0][0] == 2 * len(analysis.means)


def test_people_who_are_readers_have_a_vote_in_the_panel(bench: ReviewFolder) -> None:
    run(bench, ScriptedBackend(answer))
    review = bench.review
    with review.open() as store:
        version = review.protocol.criteria_hash("title_abstract")
        rows = [
            {"record_id": f"r{i}", "stage": "title_abstract", "who": "Ada", "criteria_hash": version,
             "decision": "include" if is_include(i) else "exclude"}
            for i in range(1, RECORDS + 1)
        ]  # fmt: skip
        store.append("person_readings", rows)
        chosen = choose_rule(review, store, spec(bench), Wishes(target=1.0, strong=1, lenient=2, bins=0))
    assert chosen.pools.strong == ("Ada",)
