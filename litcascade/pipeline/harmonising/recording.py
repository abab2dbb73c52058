"""Proposals, mappings and comparisons into the store, together with the replies they rest on."""

import json
from collections.abc import Mapping
from typing import Any

from litcascade.pipeline.recorder import Recorder, Row
from litcascade.schemas import Refer, Verdict
from litcascade.stages.harmonising import (
    Compared,
    Item,
    ItemSubject,
    Mapped,
    Outcome,
    OutcomeVerdict,
    Proposal,
    Step,
    SubsetSubject,
)
from litcascade.store import Store, now

TABLES = ("calls", "failures", "label_proposals", "comparisons", "mappings")  # a mapping after what it rests on


class HarmoniseRecorder(Recorder):
    """Writes what came of a subset or an item, or the reason why nothing did. Never a default."""

    def __init__(self, store: Store, run_id: str, field: str, version: int | None = None) -> None:
        super().__init__(store, run_id)
        self.field = field
        self.version = version

    def verdict(self, verdict: Verdict, fingerprint: str) -> None:
        """Record what came of a subject; what has no outcome at all is left pending."""
        if not isinstance(verdict, OutcomeVerdict):
            return
        calls = [key for reading in verdict.readings for key in reading.calls]
        subject = verdict.subject
        if isinstance(subject, SubsetSubject):
            self._proposal(subject, verdict.outcome, fingerprint, calls)
        elif isinstance(subject, ItemSubject):
            step: Step = "compare" if verdict.stage == "compare" else "map"
            self._add("mappings", self.mapping(subject.item, verdict.outcome, fingerprint, step, calls))
            for number, one in enumerate(verdict.outcome.comparisons if isinstance(verdict.outcome, Compared) else (), start=1):
                told = one.model_dump(exclude={"first", "second"})
                names = {"first_system": one.first, "second_system": one.second, "number": number, **told}
                where = {"run_id": self.run_id, "fingerprint": fingerprint, "unit_id": subject.item.unit_id("compare")}
                self._add("comparisons", {**where, **names})

    def mapping(
        self, item: Item, outcome: Outcome | Refer, fingerprint: str, step: Step, calls: list[str], how: str = "model"
    ) -> Row:
        """A row of `mappings`; `how` is None where nobody was asked."""
        told: dict[str, Any] = {
            "labels": [],
            "words": None,
            "first_labels": [],
            "second_labels": [],
            "flag": None,
            "detail": None,
        }
        if isinstance(outcome, Refer):
            told |= {"flag": outcome.code.value, "detail": outcome.detail or None}
        elif isinstance(outcome, Mapped):
            told |= {"labels": list(outcome.labels), "words": outcome.words, "flag": outcome.flag, "detail": outcome.detail}
            told |= {"first_labels": list(outcome.first), "second_labels": list(outcome.second)}
        elif isinstance(outcome, Compared):
            told |= {"flag": outcome.flag}
        return {
            "at_time": now(), "run_id": self.run_id, "fingerprint": fingerprint, "step": step, "field": self.field,
            "unit_id": item.unit_id(step), "item": item.text, "version": self.version,
            "how": how if calls or how == "exact" else None, **told, "calls": calls,
        }  # fmt: skip

    def _proposal(self, subject: SubsetSubject, outcome: Outcome | Refer, fingerprint: str, calls: list[str]) -> None:
        labels = outcome.model_dump_json() if isinstance(outcome, Proposal) else None
        refer = outcome if isinstance(outcome, Refer) else None
        self._add(
            "label_proposals",
            {
                "at_time": now(), "run_id": self.run_id, "fingerprint": fingerprint, "field": self.field,
                "subset_id": subject.subset_id, "number": subject.number, "items": list(subject.items), "labels": labels,
                "code": refer and refer.code.value, "detail": refer and refer.detail, "calls": calls,
            },
        )  # fmt: skip

    def _append(self, rows: Mapping[str, list[Row]]) -> None:
        with self.store.transaction():
            for table in TABLES:
                self.store.append(table, rows.get(table, []))


def stored_proposals(store: Store, fingerprint: str) -> dict[str, tuple[Proposal | None, str | None]]:
    """By subset id what was proposed, or None with the reason why nothing was."""
    rows = store.rows(
        "select subset_id, labels, code, detail from label_proposals where fingerprint = ? order by seq", [fingerprint]
    )
    return {
        subset: (Proposal.model_validate(json.loads(labels)) if labels else None, f"{code}: {detail}" if code else None)
        for subset, labels, code, detail in rows
    }
