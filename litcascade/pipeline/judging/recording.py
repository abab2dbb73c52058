"""Judgements into the store, together with the replies they rest on."""

from collections.abc import Mapping
from typing import Any

from litcascade.judges import Judged
from litcascade.pipeline.judging.binding import JudgeVerdict
from litcascade.pipeline.recorder import Recorder, Row
from litcascade.schemas import Verdict
from litcascade.store import Store, now


class JudgeRecorder(Recorder):
    """Writes a unit's outcome as a row of `judgements`: a verdict or score, or none with the reason. Never a default."""

    def __init__(self, store: Store, run_id: str, judge: str) -> None:
        super().__init__(store, run_id)
        self.judge = judge

    def verdict(self, verdict: Verdict, fingerprint: str) -> None:
        """Record what came of a unit; what is no unit's outcome is left pending."""
        if not isinstance(verdict, JudgeVerdict):
            return
        unit, outcome = verdict.unit, verdict.outcome
        judged = outcome if isinstance(outcome, Judged) else Judged()
        told: dict[str, Any] = {"code": None, "detail": judged.detail}
        if not isinstance(outcome, Judged):
            told = {"code": outcome.code.value, "detail": outcome.detail or None}
        self._add(
            "judgements",
            {
                "at_time": now(), "run_id": self.run_id, "judge": self.judge, "fingerprint": fingerprint,
                "unit_id": unit.unit_id, "record_id": unit.record_id, "field": unit.field, "document_id": unit.document_id,
                "gold": unit.gold or None, "item": unit.item, "verdict": judged.verdict, "score": judged.score,
                "first_verdict": judged.first, "second_verdict": judged.second, "quote": judged.quote, **told,
                "calls": [key for reading in verdict.readings for key in reading.calls],
            },
        )  # fmt: skip

    def _append(self, rows: Mapping[str, list[Row]]) -> None:
        with self.store.transaction():
            for table in ("calls", "failures", "judgements"):
                self.store.append(table, rows.get(table, []))
