"""The closed ledger: how many records stand where, and whether the counts close."""

from dataclasses import dataclass

from litcascade.report import Table
from litcascade.schemas import Protocol, State
from litcascade.store import Store

ORDER = [state.value for state in State]


@dataclass(frozen=True)
class StageLedger:
    """One stage's counts: `entered` equals the sum of `states`; `passed` is what the next stage receives."""

    stage: str
    entered: int
    states: dict[str, int]
    passed: int
    reasons: dict[str, int]

    def closes(self) -> bool:
        """Whether every record that entered is in exactly one state."""
        return self.entered == sum(self.states.values())


def read_ledger(store: Store, protocol: Protocol) -> list[StageLedger]:
    """The ledger of every stage, in order."""
    ledgers = []
    expected = store.value("select count(*) from records")
    for name, _ in protocol.stages.items():
        states = dict(store.rows(f"select state, count(*) from {name} group by state"))
        passed = store.value(f"select count(*) from {name} where passes")
        reasons = dict(
            store.rows(f"select coalesce(code, 'no reason kept'), count(*) from {name} where state = 'referred' group by 1")
        )
        ordered = {state: states[state] for state in ORDER if state in states}
        ledgers.append(StageLedger(name, expected, ordered, passed, reasons))
        expected = passed
    return ledgers


def ledger_table(ledger: list[StageLedger]) -> Table:
    """One row a stage; the counts of a row sum to what entered."""
    shown = [state for state in ORDER if any(state in stage.states for stage in ledger)]
    rows = [[stage.stage, stage.entered, *(stage.states.get(state, 0) for state in shown), stage.passed] for stage in ledger]
    broken = [stage.stage for stage in ledger if not stage.closes()]
    notes = (
        ["every record is in exactly one state: the counts close"]
        if not broken
        else [f"THE COUNTS DO NOT CLOSE at {', '.join(broken)}"]
    )
    return Table("Ledger (records)", ["stage", "entered", *shown, "passed on"], rows, notes)


def reasons_table(ledger: list[StageLedger]) -> Table | None:
    """Why records wait for people."""
    rows = [[stage.stage, reason, count] for stage in ledger for reason, count in sorted(stage.reasons.items())]
    return Table("Referred to people", ["stage", "why", "records"], rows) if rows else None
