"""The closed ledger: how many records stand where, and whether the counts close."""

from dataclasses import dataclass

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
