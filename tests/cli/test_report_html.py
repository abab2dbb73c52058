"""`litcascade report`: the page, Markdown, and comparisons, as a user meets them."""

import json
from typing import Any

import pytest
from lxml import html as lxml_html

from litcascade.backends.scripted import ScriptedBackend
from litcascade.schemas import Reply
from tests.cli.test_cli import cli, one_sentence
from tests.support.reviews import ABSTRACTS, ReviewFolder


def tree_of(text: str) -> Any:
    """The page as parsed; lxml's own types are too wide to be read with."""
    return lxml_html.document_fromstring(text)


@pytest.fixture
def screened(folder: ReviewFolder) -> ReviewFolder:
    folder.protocol(ABSTRACTS)
    folder.records(3)
    folder.gold([{"record_id": "r1", "title_abstract": "include"}, {"record_id": "r2", "title_abstract": "exclude"}])
    folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text="yes"))})
    return folder


def test_one_file_each_and_nothing_is_written_over(screened: ReviewFolder) -> None:
    home, page, text = screened.path, screened.path / "report.html", screened.path / "report.md"
    done = cli("report", "--html", page, "--markdown", text, "--review", home)
    assert done.returncode == 0, done.stderr
    tree = tree_of(page.read_text(encoding="utf-8"))
    assert tree.xpath("//h1")[0].text == "Zinc"
    assert text.read_text(encoding="utf-8").startswith("# Zinc\n")
    assert not list(home.glob("*.part"))
    assert "is there already" in one_sentence(cli("report", "--html", page, "--review", home))
    assert cli("report", "--html", page, "--force", "--review", home).returncode == 0
    assert "part of the review itself" in one_sentence(cli("report", "--html", home / "review.toml", "--force", "--review", home))


def test_reviews_are_compared_in_the_terminal_as_json_and_as_a_page(screened: ReviewFolder) -> None:
    other = ReviewFolder(screened.path.parent / "other")
    other.protocol(ABSTRACTS)
    other.records(4)
    other.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text="no" if "trial 2" in r.messages[-1].content else "yes"))})
    shown = cli("report", "--compare", screened.path, other.path)
    assert shown.returncode == 0, shown.stderr
    assert "1 record(s) that flipped at title_abstract" in shown.stdout
    told = json.loads(cli("report", "--compare", screened.path, other.path, "--json").stdout)
    assert [flip["record_id"] for flip in told[0]["stages"][0]["flips"]] == ["r2"]
    assert told[0]["only_second"] == {"included": 1}
    page = screened.path.parent / "compared.html"
    assert cli("report", "--compare", screened.path, other.path, "--html", page).returncode == 0
    assert "r2" in page.read_text(encoding="utf-8")
    store = other.path / "review.duckdb"
    refused = cli("report", "--compare", screened.path, other.path, "--html", store, "--force")
    assert "part of the review itself" in one_sentence(refused)


def test_wrong_turns_are_one_sentence(screened: ReviewFolder) -> None:
    assert "two names" in one_sentence(cli("report", "--compare", screened.path))
    assert "neither a folder" in one_sentence(cli("report", "--compare", screened.path, "nowhere"))
    assert "to compare reviews or runs write" in one_sentence(cli("report", "nowhere", "--review", screened.path))
    assert "no run 'run-x'" in one_sentence(cli("report", "--compare", "run-x", "run-y", "--review", screened.path))
