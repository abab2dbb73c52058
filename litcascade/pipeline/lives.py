"""One record's life at one stage: the pure step driven turn by turn, the same on every executor."""

from collections.abc import Sequence

from litcascade.schemas import Answer, Ask, Reading, Refer, ReferCode, Reply, Request, State, Turn, Verdict
from litcascade.stages import Stage, Subject

TURN_LIMIT = 12
ORDERLY = ("ask", "part", "recover")  # questions that the protocol plans; repairs and refinements are not


class Life:
    """Holds the turns and readings so far; `advance` gives the next requests until there is a verdict.

    Nothing raises out of it: a fault of our own in reading one record refers that record, with the fault's words.
    """

    __slots__ = ("readings", "stage", "subject", "turns", "verdict", "waiting")

    def __init__(self, stage: Stage, subject: Subject) -> None:
        self.stage = stage
        self.subject = subject
        self.turns: dict[str, list[Turn]] = {}
        self.readings: dict[str, Reading] = {}
        self.waiting: set[str] = set()
        self.verdict: Verdict | None = None

    def advance(self) -> list[tuple[str, Request]]:
        """The requests to put next, by reader; none while others are waited for, and none once the verdict stands."""
        if self.verdict:
            return []
        try:
            return self._advance()
        except Exception as error:  # noqa: BLE001  (one record's fault must not take its neighbours along)
            words = f"{type(error).__name__}: {str(error)[:300]}"
            self.verdict = Verdict(
                record_id=self.subject.record.record_id,
                stage=self.stage.name,
                state=State.REFERRED,
                code=ReferCode.FAULT,
                reason=words,
                document_id=self.subject.document.document_id if self.subject.document else None,
            )
            return []

    def take(self, reader: str, request: Request, reply: Reply) -> None:
        """Add a reply to the reader's turns."""
        self.waiting.discard(reader)
        self.turns.setdefault(reader, []).append(Turn(request=request, reply=reply))

    def _advance(self) -> list[tuple[str, Request]]:
        while True:
            decided = self.stage.decide(self.subject, self.readings)
            if isinstance(decided, Verdict):
                self.verdict = decided
                return []
            requests = self._hear(decided)
            if requests or self.waiting:
                return requests

    def _hear(self, ask: Ask) -> list[tuple[str, Request]]:
        requests: list[tuple[str, Request]] = []
        heard = len(self.readings)
        for name in ask.readers:
            if name in self.waiting:
                continue
            turns = self.turns.get(name, [])
            outcome = next_step(self.stage, self.subject, name, turns)
            if isinstance(outcome, Request):
                requests.append((name, outcome))
                self.waiting.add(name)
            else:
                seen = self.stage.seen(self.subject, self.stage.readers[name], turns)
                self.readings[name] = reading_of(name, turns, outcome, seen)
        if not self.waiting and len(self.readings) == heard:
            raise RuntimeError(f"policy '{self.stage.spec.policy}' asks for nobody new")
        return requests


def next_step(stage: Stage, subject: Subject, reader: str, turns: Sequence[Turn]) -> Request | Answer | Refer:
    """The stage's step, with the limit on turns and a fault of our own as referrals."""
    asked = [number for number, turn in enumerate(turns) if turn.request.purpose == "ask"]
    limit = max(TURN_LIMIT, stage.turn_limit)
    if len(turns) - (asked[-1] if asked else 0) >= limit:
        return Refer(code=ReferCode.LIMIT, detail=f"{limit} turns without an answer")
    try:
        return stage.step(subject, stage.readers[reader], turns)
    except Exception as error:  # noqa: BLE001  (one record's fault must not take its neighbours along)
        return Refer(code=ReferCode.FAULT, detail=f"{type(error).__name__}: {str(error)[:300]}")


def reading_of(reader: str, turns: Sequence[Turn], outcome: Answer | Refer, seen: float | None = None) -> Reading:
    """A reader's outcome as a reading; orderly where the first reply to every question sufficed."""
    orderly = isinstance(outcome, Answer) and all(turn.request.purpose in ORDERLY for turn in turns)
    tokens = turns[0].reply.prompt_tokens if turns else None
    calls = tuple(turn.request.key for turn in turns)
    return Reading(reader=reader, outcome=outcome, calls=calls, orderly=orderly, tokens=tokens, seen=seen)
