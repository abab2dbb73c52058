"""`litcascade harmonise` as a person uses it, against a served model."""

import csv
import json
from pathlib import Path

import pytest

from tests.cli.test_cli import cli, one_sentence
from tests.support.reviews import ReviewFolder
from tests.support.server import Body, ModelServer, Say, is_canary, well_behaved

PARTS = """
[readers.extractor]
model = "m"
[readers.sorter]
model = "m"
[stages.extraction]
readers = ["extractor"]
[[fields]]
name = "design"
kind = "open"
definition = "How groups were formed."
"""
DESIGNS = {"1": "by lot", "2": "watched", "3": "odd"}


def say(body: Body) -> Say:
    """Two labels for any subset; `by lot` and `watched` have one each, `odd` is called unclear."""
    if is_canary(body):
        return well_behaved(body)
    text = body["messages"][-1]["content"]
    if "<items>" in text:
        labels = [{"name": name, "definition": "x", "items": [place]} for place, name in enumerate(("Chance", "Seen"), start=1)]
        return Say(json.dumps({"labels": labels}))
    if "<item>" in text:
        item = text.partition("<item>\n")[2].partition("\n")[0]
        label = {"by lot": "Chance", "watched": "Seen"}.get(item, "unclear")
        return Say(json.dumps({"words": "" if label == "unclear" else item, "labels": [label]}))
    design = DESIGNS[text.rpartition("Zinc trial ")[2].split()[0]]
    return Say(json.dumps({"design": {"quote": "were formed", "notes": "", "value": design}}))


@pytest.fixture
def extracted(folder: ReviewFolder, server: ModelServer) -> Path:
    server.answer = say
    folder.protocol(PARTS, url=server.url)
    folder.records(3)
    folder.texts({f"r{i}": f"Methods\n\nGroups were formed in Zinc trial {i} ." for i in (1, 2, 3)})
    assert folder.run().status == "complete"
    return folder.path


def test_propose_edit_freeze_map_decide_export(extracted: Path) -> None:
    home = ("--review", extracted)
    chosen = ("--field", "design", "--reader", "sorter")
    proposed = cli("harmonise", "propose", *chosen, "--samples", "2", *home)
    assert proposed.returncode == 0, proposed.stderr
    path = extracted / "labels" / "design.toml"
    assert f"wrote {path}; edit it" in proposed.stdout
    path.write_text(path.read_text(encoding="utf-8").replace('"x"', '"Mine."'), encoding="utf-8")
    assert "has been edited" in one_sentence(cli("harmonise", "propose", *chosen, *home))
    signed = ("--field", "design", "--author", "Ada", *home)
    assert "froze version 1 of the labels of design: 2 labels, by Ada" in cli("harmonise", "freeze", path, *signed).stdout
    again = cli("harmonise", "freeze", path, *signed, "--json")
    assert json.loads(again.stdout)["new"] is False
    mapped = cli("harmonise", "map", *chosen, *home)
    assert mapped.returncode == 0, mapped.stderr
    assert "for people: unclear" in mapped.stdout
    told = json.loads(cli("harmonise", "map", *chosen, "--no-check", "--json", *home).stdout)
    assert (told["by"], told["flags"], told["spent"]["calls"]) == ({"model": 2}, {"unclear": 1}, 0)
    table = extracted / "check.csv"
    assert "wrote 1 row(s)" in cli("export", "harmonised_to_check", table, *home).stdout
    with table.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [(row["item"], row["why"]) for row in rows] == [("odd", "unclear")]
    with table.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerow(rows[0] | {"label": "Seen"})
    decided = cli("harmonise", "decide", table, "--by", "Ada", *home)
    assert "1 decision(s) imported" in decided.stdout, decided.stderr
    cli("export", "harmonised", extracted / "all.csv", *home)
    with (extracted / "all.csv").open(encoding="utf-8", newline="") as handle:
        found = {row["raw"]: (row["labels"], row["how"], row["decided_by"]) for row in csv.DictReader(handle)}
    assert found == {"by lot": ("Chance", "model", ""), "watched": ("Seen", "model", ""), "odd": ("Seen", "person", "Ada")}


def test_wrong_turns_are_one_sentence(extracted: Path) -> None:
    home = ("--review", extracted)
    chosen = ("--field", "design", "--reader", "sorter")
    assert "are not frozen yet" in one_sentence(cli("harmonise", "map", *chosen, *home))
    assert "leave --version out" in one_sentence(cli("harmonise", "map", *chosen, "--comparisons", "--version", "1", *home))
    assert "no free-text field 'desgn'" in one_sentence(
        cli("harmonise", "propose", "--field", "desgn", "--reader", "sorter", *home)
    )
    freeze = ("harmonise", "freeze", extracted / "none.toml", "--field", "design", "--author", "Ada", *home)
    assert "there is no such file" in one_sentence(cli(*freeze))
    assert "nothing is harmonised yet" in one_sentence(cli("export", "harmonised", extracted / "all.csv", *home))
