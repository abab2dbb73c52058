"""The tutorial, the how-tos and the explanations with figures, played: what they tell to type works and prints what they show."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks
from tests.docs.playing import Player
from tests.support.grobid_server import LocalGrobid, pdf_of
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say, asked_labels, is_canary, well_behaved

REPLIES = Path(__file__).parents[1] / "data" / "recorded" / "demo-replies.jsonl"
PLAYED = {
    "tutorial.md", "how-to/cluster.md", "how-to/grobid.md", "how-to/desk-for-two.md", "how-to/benchmark-a-model.md",
    "how-to/write-a-metric.md", "explanations/why-wmcc.md", "explanations/what-a-certificate-says.md",
}  # fmt: skip


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    """A folder of its own; the folder that was current before is so again afterwards."""
    before = Path.cwd()
    yield tmp_path
    os.chdir(before)


def by_number(body: Body) -> Say:
    """A reader of "Zinc trial N": includes every fourth record, and is sure of itself."""
    labels = asked_labels(body)
    if is_canary(body) or not labels:
        return well_behaved(body)
    number = int(str(body["messages"][-1]["content"]).rpartition("Zinc trial ")[2].split()[0])
    said, other = ("yes", "no") if number % 4 == 0 else ("no", "yes")
    return Say(said, top={said: -0.1, other: -2.4})


@pytest.fixture
def review(here: Path, server: ModelServer) -> ReviewFolder:
    """A review of 12 records whose model runs on this machine."""
    server.answer = by_number
    folder = ReviewFolder(here / "review")
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(12)
    return folder


def test_every_page_with_commands_to_run_is_played() -> None:
    marked = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if any(b.mark == "run" for b in blocks(page))}
    assert marked == PLAYED


def replies_instead_of_weights(folder: Path) -> None:
    """Have the demo's model answer from the replies that the real one gave."""
    path = folder / "demo-review" / "review.toml"
    text = path.read_text(encoding="utf-8")
    assert text.count('backend = "embedded"') == 1
    path.write_text(text.replace('backend = "embedded"', f"backend = \"recorded\"\nfile = '{REPLIES}'"), encoding="utf-8")


def test_the_tutorial(here: Path) -> None:
    player = Player(here, after={"litcascade demo --no-run": replies_instead_of_weights})
    player.play("tutorial.md")
    assert len(player.ran) > 15
    assert (here / "demo-review" / "report.html").stat().st_size > 50_000


def test_the_cluster_how_to(review: ReviewFolder) -> None:
    Player(review.path).play("how-to/cluster.md")
    assert set(review.states("title_abstract").values()) == {"included", "excluded"}


def test_the_grobid_how_to(review: ReviewFolder) -> None:
    pdfs = review.path / "pdfs"
    pdfs.mkdir()
    for name in ("r1", "r2"):
        (pdfs / f"{name}.pdf").write_bytes(pdf_of(f"Zinc trial {name[1:]}", "Forty adults took zinc."))
    with LocalGrobid() as grobid:
        Player(review.path, {"http://localhost:8070": grobid.url}).play("how-to/grobid.md")
        assert len(grobid.asked) == 2
    assert review.rows("select count(*) from current_documents") == [(2,)]


def test_the_desk_how_to(review: ReviewFolder) -> None:
    Player(review.path).play("how-to/desk-for-two.md")
    assert (review.path / "report.html").stat().st_size > 10_000


def test_the_benchmark_how_to(review: ReviewFolder) -> None:
    (review.path / "review.duckdb").unlink()
    review.records(140)
    labels = [{"record_id": f"r{n}", "title_abstract": "exclude" if n % 4 else "include"} for n in range(1, 141)]
    review.table("gold.csv", labels)
    Player(review.path).play("how-to/benchmark-a-model.md")
    rule = tomllib.loads((review.path / "rule.toml").read_text(encoding="utf-8"))
    assert rule["stages"]["title_abstract"]["readers"]
    assert (review.path / "cells.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_metric_how_to(here: Path) -> None:
    Player(here).play("how-to/write-a-metric.md")
    declared = tomllib.loads((here / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = here / "litcascade_informedness-0.1.dist-info"
    installed.mkdir()
    installed.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: {declared['version']}\n"
    )
    ((group, points),) = declared["entry-points"].items()
    installed.joinpath("entry_points.txt").write_text(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()))
    listed = subprocess.run(
        [sys.executable, "-m", "litcascade", "metrics", "--list"],
        env=os.environ | {"PYTHONPATH": str(here)}, cwd=here, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "informedness" in listed.stdout
    assert "Youden 1950" in listed.stdout


@pytest.mark.parametrize("page", ["why-wmcc.md", "what-a-certificate-says.md"])
def test_the_figures_of_an_explanation(here: Path, page: str) -> None:
    Player(here).play(f"explanations/{page}")


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("<!-- run: x -->\n\n    litcascade --version\n\n<!-- shown -->\n\n```output\nanother program\n```\n", "was not printed"),
        ("<!-- run: x -->\n\n    litcascade report --compare\n", "exit"),
        ("<!-- run: x -->\n\n    python -c 'raise SystemExit(3)'\n", "SystemExit"),
        ("<!-- shown -->\n\nno block\n", "stands before no block"),
    ],
)
def test_a_page_that_does_not_hold_is_told(here: Path, monkeypatch: pytest.MonkeyPatch, page: str, said: str) -> None:
    monkeypatch.setattr("tests.docs.playing.DOCS", here)
    (here / "page.md").write_text(page, encoding="utf-8")
    with pytest.raises(AssertionError, match=said):
        Player(here).play("page.md")
