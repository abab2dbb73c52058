import pytest

from litcascade.errors import InputError
from litcascade.pipeline.baselines import score_baselines
from litcascade.pipeline.reporting import report_tables
from tests.support.reviews import ABSTRACTS, ReviewFolder


@pytest.fixture
def labelled(folder: ReviewFolder) -> ReviewFolder:
    folder.protocol(ABSTRACTS)
    rows: list[dict[str, str | None]] = []
    for number in range(60):
        topic = "zinc lozenges for throats" if number % 6 == 0 else "honey syrup in children"
        rows.append(
            {"record_id": f"r{number}", "title": f"{topic} {number}", "abstract": f"{topic}: trial number {number} of many"}
        )
    folder.records(rows)
    folder.gold([{"record_id": f"r{n}", "title_abstract": "include" if n % 6 == 0 else "exclude"} for n in range(60)])
    return folder


def test_baselines_are_scored_like_readers_and_change_no_state(labelled: ReviewFolder) -> None:
    said: list[str] = []
    with labelled.review.open() as store:
        before = store.rows("select record_id, state from title_abstract order by 1")
        table = score_baselines(labelled.review, store, ["logistic", "include_all", "random"], said.append)[0]
        assert store.rows("select record_id, state from title_abstract order by 1") == before
        marks = store.rows("select fingerprint, count(*), count(distinct state) from verdicts group by 1 order by 1")
    assert marks[0] == ("baseline:include_all", 60, 1)
    assert [mark[:2] for mark in marks] == [(f"baseline:{name}", 60) for name in ("include_all", "logistic", "random")]
    rows = {row[0]: row for row in table.rows}
    assert str(rows["logistic"][2]).startswith("1.000")
    assert rows["include_all"][1] is None
    assert said == ["title_abstract: logistic", "title_abstract: include_all", "title_abstract: random"]


def test_every_report_shows_the_workload_of_active_learning_and_computes_it_once(labelled: ReviewFolder) -> None:
    with labelled.review.open() as store:
        for _ in range(2):
            tables, _, _ = report_tables(labelled.review, store)
            table = next(table for table in tables if table.title.startswith("Workload"))
            assert table.rows[0][:2] == ["title_abstract", "active learning"]
            assert table.rows[0][2] is not None
        assert store.value("select count(*) from estimates where scope = 'title_abstract active learning'") == 3


def test_an_unknown_baseline_is_refused_before_any_is_run(labelled: ReviewFolder) -> None:
    with labelled.review.open() as store, pytest.raises(InputError, match="no baseline 'logistik'; did you mean 'logistic'"):
        score_baselines(labelled.review, store, ["include_all", "logistik"], lambda _: None)
    assert labelled.rows("select count(*) from verdicts") == [(0,)]


def test_without_gold_there_is_nothing_to_learn_from(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(2)
    with folder.review.open() as store, pytest.raises(InputError, match="no gold to learn from"):
        score_baselines(folder.review, store, [], lambda _: None)
