"""A review with something in every queue, and a desk over it."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from litcascade.backends.scripted import ScriptedBackend
from litcascade.desk.desk import Desk
from litcascade.desk.kinds import Rules
from litcascade.desk.users import Session, User
from litcascade.pipeline.auditing import draw_audit
from litcascade.pipeline.duplicates import deduplicate
from litcascade.pipeline.importing import import_records
from litcascade.pipeline.judging.sampling import Wishes, plan_labels
from litcascade.schemas import Reply, Request
from tests.pipeline import test_harmonising as harmonising
from tests.pipeline import test_schema_drafting as drafting
from tests.support.reviews import ReviewFolder

ANNA, BEN, CLEO, VERA = User("Anna", "reviewer"), User("Ben", "reviewer"), User("Cleo", "arbiter"), User("Vera", "viewer")
PEOPLE = (ANNA, BEN, CLEO, VERA)
XSS = "<img src=x onerror=\"document.title='owned'\"><script>window.owned=1</script> \"'`{{7*7}}"
TITLES = '\n[readers.one]\nmodel = "m"\nprompt = "inclusion"\n[stages.title_abstract]\nreaders = ["one"]\npositives = "people"\n'
PANEL = """
[readers.one]
model = "m"
[readers.anna]
person = true
[stages.title_abstract]
readers = ["one", "anna"]
votes = 2
"""
DEEP = """
[readers.extractor]
model = "m"
[stages.extraction]
readers = ["extractor"]
[[fields]]
name = "setting"
kind = "closed"
definition = "Where it took place."
values = ["hospital", "school"]
[[fields]]
name = "people"
kind = "number"
definition = "How many took part."
minimum = 1
maximum = 1000
[[fields]]
name = "dose"
kind = "open"
definition = "Dose of zinc."
"""
FOUND = {
    "setting": {"quote": "in a hospital", "value": "hospital"},
    "people": {"quote": "Forty adults", "value": 41},
    "dose": {"quote": "90 mg of zinc acetate", "value": "90 mg"},
}


def number(text: str) -> int:
    found = re.findall(r"Zinc trial (\d+)", text)
    return int(found[-1]) if found else 0


def answers(request: Request) -> Reply:
    """Every third record is included; a report is extracted with one value that its quote does not hold up."""
    text = request.messages[-1].content
    if request.shape.kind == "json":
        return Reply(key=request.key, text=json.dumps(FOUND), finish_reason="stop")
    return Reply(key=request.key, text="yes" if number(text) % 3 == 0 else "no", finish_reason="stop")


def screened(folder: ReviewFolder, count: int = 12, parts: Sequence[str] = (TITLES,)) -> ReviewFolder:
    """Records of which every third is a predicted positive; r1 has no abstract and a hostile title."""
    folder.protocol(*parts)
    rows = [
        {
            "id": f"r{i}", "title": f"Zinc trial {i}" if i != 1 else f"Zinc {XSS} trial 1",
            "abstract": f"Forty adults took zinc for a sore throat in Zinc trial {i}. Pain was less after two days."
            if i not in (1, 4) else "",
        }
        for i in range(1, count + 1)
    ]  # fmt: skip
    folder.records(rows)
    folder.run({"m": ScriptedBackend(answers)})
    return folder


def with_duplicates(folder: ReviewFolder) -> None:
    """Two records of the same title and nothing else: a pair for people."""
    title = "Zinc lozenges against the common cold in adults, a randomised trial"
    rows = [
        {"id": "d1", "title": title, "abstract": ""},
        {"id": "d2", "title": title.upper(), "abstract": ""},
    ]
    path = folder.table("more.csv", rows)
    with folder.review.open() as store:
        import_records(store, path)
        deduplicate(store)


def extracted(folder: ReviewFolder, count: int = 3) -> ReviewFolder:
    """Reports whose values are extracted, one of them unsupported, with items drawn for calibration."""
    folder.protocol(DEEP)
    folder.records(count)
    folder.texts(
        {
            f"r{i}": f"Methods\n\nForty adults in a hospital took 90 mg of zinc acetate in Zinc trial {i}.\n\nResults\n\nLess pain."
            for i in range(1, count + 1)
        }
    )
    folder.gold([{"record_id": f"r{i}", "field": "dose", "value": "90 mg"} for i in range(1, count + 1)])
    folder.run({"m": ScriptedBackend(answers)})
    review = folder.review
    with review.open() as store:
        plan_labels(review, store, folder.path / "labels.csv", Wishes(budget=20, pilot=5))
    return folder


def audited(folder: ReviewFolder, size: int = 4) -> None:
    review = folder.review
    with review.open() as store:
        draw_audit(review, store, folder.path / "audit.csv", stage=None, size=size, target=0.9, alpha=0.05, seed=1)


@contextmanager
def desk_of(folder: ReviewFolder, rules: Rules | None = None, users: Sequence[User] = PEOPLE) -> Iterator[Desk]:
    review = folder.review
    with review.open() as store:
        yield Desk(review, store, users, rules or Rules())


def session(user: User) -> Session:
    return Session(user, 1e12, "token")


def harmonised(folder: ReviewFolder) -> ReviewFolder:
    """Designs of seven trials, of which models label four; claims of two, of which one is a comparison that is in doubt."""
    folder.protocol(harmonising.PARTS)
    folder.records(len(harmonising.DESIGN))
    folder.texts({f"r{i}": f"Methods\n\nGroups were formed in Zinc trial {i} . Pain fell in both." for i in harmonising.DESIGN})
    folder.run({"m": ScriptedBackend(harmonising.extract), "h": ScriptedBackend(lambda _: None)})
    harmonising.frozen(folder)
    harmonising.mapping(folder)
    harmonising.mapping(folder, field="results.claim", comparisons=True)
    return folder


def proposed(folder: ReviewFolder) -> ReviewFolder:
    """Five papers read for candidate fields, and four proposals that nobody has decided."""
    folder.protocol(drafting.PLAIN)
    folder.records(6)
    folder.texts({f"r{i}": drafting.paper(i) for i in range(1, 6)})
    drafting.draft(folder, sample=5)
    drafting.propose(folder, drafting.collaborates(drafting.usual))
    return folder
