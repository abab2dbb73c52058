"""Predicted positives go to people, the rest are silver exclusions, and an audit of them bounds what was lost."""

import csv
from pathlib import Path

import pytest

from litcascade.backends.scripted import ScriptedBackend
from litcascade.errors import InputError
from litcascade.pipeline.auditing import audit_results, audit_table, draw_audit
from litcascade.pipeline.importing import import_decisions
from litcascade.schemas import Reply, Request
from tests.support.reviews import ABSTRACTS, ReviewFolder

PEOPLE = ABSTRACTS + 'positives = "people"\n'


def answer(request: Request) -> Reply:
    """Every tenth record is included."""
    number = int(request.messages[-1].content.rpartition("Zinc trial ")[2].split()[0])
    return Reply(key=request.key, text="yes" if number % 10 == 0 else "no", finish_reason="stop")


@pytest.fixture
def screened(folder: ReviewFolder) -> ReviewFolder:
    folder.protocol(PEOPLE)
    folder.records(200)
    folder.run({"m": ScriptedBackend(answer)})
    return folder


def decide(folder: ReviewFolder, path: Path, includes: set[str], but: int = 0) -> None:
    """Fill in a table: these are includes, the others not; the last `but` rows stay blank."""
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    for row in rows[: len(rows) - but]:
        row["decision"] = "include" if row["record_id"] in includes else "exclude"
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    review = folder.review
    with review.open() as store:
        import_decisions(review, store, path, "Ada")


def confirm(folder: ReviewFolder) -> None:
    rows = [{"record_id": f"r{i}", "stage": "title_abstract", "decision": "include"} for i in range(10, 201, 10)]
    decide(folder, folder.table("positives.csv", rows), {f"r{i}" for i in range(10, 201, 10)})


def draw(folder: ReviewFolder, path: Path, size: int | None = None, target: float = 0.9) -> tuple[int, int, bool]:
    review = folder.review
    with review.open() as store:
        audit = draw_audit(review, store, path, stage=None, size=size, target=target, alpha=0.05, seed=1)
    return audit.population, audit.sample, audit.fresh


def test_positives_wait_for_people_and_negatives_are_silver(screened: ReviewFolder) -> None:
    states = screened.states("title_abstract")
    assert sorted(states.values()) == ["excluded"] * 180 + ["referred"] * 20
    assert screened.rows("select distinct code from title_abstract where state = 'referred'") == [
        ("included by models, for a person to confirm",)
    ]
    confirm(screened)
    assert screened.states("title_abstract")["r10"] == "included"


def test_the_audit_is_frozen_hides_the_models_view_and_gives_a_bound_only_when_whole(
    screened: ReviewFolder, tmp_path: Path
) -> None:
    confirm(screened)
    path = tmp_path / "audit.csv"
    population, sample, fresh = draw(screened, path)
    assert (population, fresh) == (180, True)
    first = path.read_text(encoding="utf-8")
    assert "score" not in first.splitlines()[0]
    assert draw(screened, path) == (180, sample, False)
    assert path.read_text(encoding="utf-8") == first
    with pytest.raises(InputError, match=f"an audit of {sample} record"):
        draw(screened, path, size=5)
    decide(screened, path, set(), but=1)
    with screened.review.open() as store:
        result = audit_results(store)[0]
        assert (result.decided, result.shown) == (sample - 1, None)
        assert result.note is not None
        assert result.note.startswith("1 of")
    decide(screened, path, set())
    with screened.review.open() as store:
        result = audit_results(store)[0]
        table = audit_table(store)
    assert result.shown is not None
    assert result.shown.recall_low is not None
    assert result.shown.recall_low >= 0.9
    assert table is not None
    assert table.rows[0][:5] == ["title_abstract", 180, sample, sample, 0]


def test_a_relevant_record_in_the_audit_is_rescued_and_counted_against_the_models(screened: ReviewFolder, tmp_path: Path) -> None:
    confirm(screened)
    path = tmp_path / "audit.csv"
    draw(screened, path, size=90)
    with path.open(encoding="utf-8", newline="") as handle:
        lost = next(csv.DictReader(handle))["record_id"]
    decide(screened, path, {lost})
    with screened.review.open() as store:
        result = audit_results(store)[0]
    assert (result.relevant, result.found) == (1, 20)
    assert result.shown is not None
    assert result.shown.most_missed >= 2
    assert screened.states("title_abstract")[lost] == "included"


def test_an_audit_needs_confirmed_includes_to_be_planned_and_exclusions_to_draw(folder: ReviewFolder, tmp_path: Path) -> None:
    folder.protocol(PEOPLE)
    folder.records(20)
    with pytest.raises(InputError, match="nothing was run"):
        draw(folder, tmp_path / "a.csv")
    folder.run({"m": ScriptedBackend(answer)})
    with pytest.raises(InputError, match="no included record is confirmed"):
        draw(folder, tmp_path / "a.csv")
    with pytest.raises(InputError, match="an audit of 19 record"):
        draw(folder, tmp_path / "a.csv", size=19)
