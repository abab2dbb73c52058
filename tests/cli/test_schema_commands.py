"""`litcascade schema` as a user meets it, against a local server."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.test_cli import cli, one_sentence
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say, is_canary, well_behaved


def schemed(body: Body) -> Say:
    """Names one item a paper, and proposes it once; canaries are answered as ever."""
    text = str(body["messages"][-1]["content"])
    if is_canary(body) or "response_format" not in body:
        return well_behaved(body)
    words = sum(len(str(message["content"]).split()) for message in body["messages"])
    if "<report>" in text:
        items = {"quote": "75 mg of zinc", "name": "Zinc dose", "definition": "Daily dose.", "kind": "number",
                 "example": "75 mg", "remark": "\x1b[31m\nas elemental zinc"}  # fmt: skip
        return Say(json.dumps({"fields": [items]}), prompt_tokens=words)
    if "<candidates>" not in text:
        return well_behaved(body)
    field = {"name": "zinc_dose", "definition": "Daily dose of zinc.", "kind": "number", "values": [], "parts": []}
    common = {"names": [], "text": "", "rationale": "All papers state it."}
    good = {"evidence": re.findall(r"\bc\d+\b", text)[:2], "kind": "new", "fields": [field], **common}
    bad = {"evidence": ["c77"], "kind": "new", "fields": [field], **common}
    return Say(json.dumps({"proposals": [good, bad]}), prompt_tokens=words)


@pytest.fixture
def home(folder: ReviewFolder, server: ModelServer) -> Path:
    server.answer = schemed
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(3)
    folder.texts({f"r{i}": f"Methods\n\nTrial {i} gave forty adults 75 mg of zinc a day." for i in range(1, 4)})
    (folder.path / "goals.md").write_text("Which doses of zinc were given?\n", encoding="utf-8")
    return folder.path


def test_from_goals_to_a_frozen_version(home: Path, server: ModelServer) -> None:
    drafted = cli("schema", "draft", "--reader", "one", "--goals", home / "goals.md", "--sample", "2", "--review", home)
    assert drafted.returncode == 0, drafted.stderr
    assert "sample: 2 paper(s), 2 of them drawn now; 3 could be drawn" in drafted.stdout
    assert "candidates: 2 under 1 name(s); 0 with a quote that does not stand in its paper" in drafted.stdout
    assert any("Which doses of zinc were given?" in str(body["messages"][0]["content"]) for body in server.screening())
    again = cli("schema", "draft", "--reader", "one", "--goals", home / "goals.md", "--sample", "3", "--json", "--review", home)
    assert json.loads(again.stdout)["spent"]["calls"] == 1

    proposed = cli("schema", "propose", "--reader", "one", "--review", home)
    assert proposed.returncode == 0, proposed.stderr
    assert "invalid: new : it names as evidence what is not on the list: c77" in proposed.stdout
    path = home / "schema" / "proposals.toml"
    assert "\x1b" not in proposed.stdout + path.read_text(encoding="utf-8")
    refused = one_sentence(cli("schema", "freeze", "--author", "Ada", "--review", home))
    assert "1 of 1 proposal(s) have no decision (p1)" in refused
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('decision = ""', 'decision = "accept"'), encoding="utf-8")
    assert "somebody has worked in it" in one_sentence(cli("schema", "propose", "--reader", "one", "--review", home))

    frozen = cli("schema", "freeze", "--author", "Ada", "--review", home)
    assert frozen.returncode == 0, frozen.stderr
    assert "version 1 frozen; 1 field(s)" in frozen.stdout
    assert "put the [[fields]] of this file into review.toml" in frozen.stdout
    same = json.loads(cli("schema", "freeze", "--author", "Ada", "--json", "--review", home).stdout)
    assert (same["version"], same["new"], same["decisions"]["accept"]) == (1, False, 1)

    version = home / "schema" / "v1.toml"
    protocol = home / "review.toml"
    protocol.write_text(protocol.read_text(encoding="utf-8") + version.read_text(encoding="utf-8"), encoding="utf-8")
    assert cli("check", "--no-models", "--review", home).returncode == 0
    diff = cli("schema", "diff", "v1", "review", "--review", home)
    assert "the fields are the same" in diff.stdout
    assert "has these fields already" in cli("schema", "freeze", "--author", "Ada", "--review", home).stdout


def test_a_server_that_is_gone_leaves_papers_for_the_next_run(home: Path, server: ModelServer) -> None:
    server.answer = lambda body: Say(status=500) if "Trial 2" in str(body) else schemed(body)
    first = cli("schema", "draft", "--reader", "one", "--goals", "Doses.", "--json", "--review", home)
    assert first.returncode == 3
    assert json.loads(first.stdout)["reports"] == 2
    server.answer = schemed
    second = cli("schema", "draft", "--reader", "one", "--goals", "Doses.", "--json", "--review", home)
    assert (second.returncode, json.loads(second.stdout)["spent"]["calls"]) == (0, 1)


def test_schemas_are_compared_without_a_review(tmp_path: Path) -> None:
    for name, unit in (("a", "mg"), ("b", "g")):
        text = f'[[fields]]\nname = "dose"\nkind = "number"\ndefinition = "Dose."\nunit = "{unit}"\n'
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    found = cli("schema", "diff", "a.toml", "b.toml", "--json", cwd=tmp_path)
    assert found.returncode == 0
    told = json.loads(found.stdout)
    assert (told["same"], told["changed"]) == (False, [{"field": "dose", "key": "unit", "before": "mg", "after": "g"}])
    shown = cli("schema", "diff", "rct_outcomes", "a.toml", cwd=tmp_path)
    assert "removed" in shown.stdout
    assert "no shipped schema 'rct_outcome'" in one_sentence(cli("schema", "diff", "rct_outcome", "a.toml", cwd=tmp_path))


def test_wrong_turns_are_one_sentence(home: Path) -> None:
    assert "run `litcascade schema draft` first" in one_sentence(cli("schema", "propose", "--reader", "one", "--review", home))
    nothing = one_sentence(cli("schema", "freeze", "--author", "Ada", "--review", home))
    assert "there is no such file of proposals" in nothing
    assert "there is no version 1; none is frozen yet" in one_sentence(cli("schema", "diff", "1", "review", "--review", home))
    few = cli("schema", "draft", "--reader", "one", "--goals", "Doses.", "--sample", "0", "--no-check", "--review", home)
    assert "--sample must be 1 or more" in one_sentence(few)
