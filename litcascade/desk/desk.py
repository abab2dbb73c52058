"""The desk without HTTP: what a person sees next, what a decision comes to, what is undone. For one thread."""

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from litcascade.desk.deciding import Decider, Done
from litcascade.desk.heads import Heads
from litcascade.desk.keys import split
from litcascade.desk.kinds import QUEUES, Queue, Rules, may_see, queue_named
from litcascade.desk.progress import Agreed, Pace, agreements, paces, with_themselves
from litcascade.desk.queues import Queues, Waiting
from litcascade.desk.running import RunBeside
from litcascade.desk.screens import Screen, Screens
from litcascade.desk.users import Session, User
from litcascade.errors import InputError
from litcascade.pipeline.duplicates import deduplicate
from litcascade.pipeline.ledger import StageLedger, read_ledger
from litcascade.pipeline.review import PROTOCOL_NAME, Review
from litcascade.pipeline.schema_drafting.words import freeze_words, unfrozen
from litcascade.store import Store

FORMS = 5000  # filled-in forms that are remembered, so that one sent twice is stored once
UNDOS = 50
PAGE = 50
PAIRS_UNHEARD = (
    "select greatest((select max(seq) from pairs where who <> 'rules'), (select max(seq) from withdrawn where kind = 'pairs')) > "
    "coalesce((select max(seq) from clusters), 0)"
)


@dataclass(frozen=True)
class View:
    """A screen with its place: the queue, how many wait there, and the screen itself (None: the queue is empty)."""

    queue: Queue
    left: int
    screen: Screen | None


@dataclass(frozen=True)
class Standing:
    """Progress: the ledger, what waits by queue, people's pace and agreement, and how the run stands."""

    ledger: list[StageLedger]
    queues: list[tuple[Queue, int]]
    paces: list[Pace]
    agreements: list[Agreed]
    again: list[Agreed]
    run: str


@dataclass(frozen=True)
class _Action:
    queue: str
    key: str
    done: Done


class Desk:
    """One review on the desk, and the people at it."""

    def __init__(self, review: Review, store: Store, users: Sequence[User], rules: Rules) -> None:
        self.review = review
        self.store = store
        self.rules = rules = rules.under(review.protocol)
        self.queues = Queues(review, store, rules, users)
        self.heads = Heads(self.queues)
        self.screens = Screens(review, store, rules)
        self.decider = Decider(review, store, rules, users)
        self.run = RunBeside(review, store, self._ran)
        self.words_on_pairs = bool(store.value(PAIRS_UNHEARD))
        self._stale = False
        self._undo: dict[str, deque[_Action]] = {}
        self._forms: OrderedDict[tuple[str, str, str, str], str] = OrderedDict()

    def home(self, user: User) -> list[tuple[Queue, int]]:
        """The queues that this person sees, with how many items wait in each."""
        self._refresh()
        return [(queue, self.heads.left(queue.name, user)) for queue in QUEUES.values() if may_see(queue, user)]

    def show(self, name: str, key: str | None, session: Session) -> View:
        """The item with this key, or the next one."""
        self._refresh()
        queue = self._queue(name, session.user)
        named = key is not None
        if key is None:
            key = self.next_key(name, session)
        screen = None
        if key is not None:
            self._require_read(queue, key, session.user)
            screen = self.screens.screen(queue, key, session.user, self.heads.why(name, session.user, key))
            if named:
                self.heads.open(key, session.user)
        return View(queue, self.heads.left(name, session.user), screen)

    def next_key(self, name: str, session: Session) -> str | None:
        """The key of what this person should look at next."""
        found = self.heads.next(name, session.user, session.skipped)
        return found.key if found else None

    def listing(self, name: str, user: User, page: int) -> tuple[Queue, list[Waiting], int]:
        """One page of a queue, from 1, and how many items wait in it."""
        self._refresh()
        queue = self._queue(name, user)
        return queue, self.queues.page(name, user, PAGE, PAGE * (page - 1)), self.heads.left(name, user)

    def decide(self, name: str, key: str, form: Mapping[str, str], session: Session) -> str:
        """Store a filled-in form (once, however often it is sent) and say what it came to."""
        queue = self._queue(name, session.user)
        fields = "\x1e".join(f"{one}\x1f{value}" for one, value in sorted(form.items()) if one != "csrf")
        sent = (session.user.name, name, key, sha256(fields.encode(errors="surrogatepass")).hexdigest())
        session.stored = False
        if form.get("form") and sent in self._forms:
            return f"{self._forms[sent]} (It was sent twice and is stored once.)"
        if form.get("decision") == "skip":
            session.skipped[key] = None
            return "Skipped; it comes again at the end."
        self._require_read(queue, key, session.user)
        done = self.decider.decide(queue, key, session.user, form)
        session.stored = True
        self._forms[sent] = done.words
        if len(self._forms) > FORMS:
            self._forms.popitem(last=False)
        self._undo.setdefault(session.user.name, deque(maxlen=UNDOS)).append(_Action(name, key, done))
        self.words_on_pairs = self.words_on_pairs or name == "duplicates"
        self.heads.drop(key, None if done.settled else session.user)
        if any(kind in ("opinions", "person_readings") for kind, _ in done.rows):
            self.heads.forget("people")
        if not done.settled:
            session.skipped[key] = None
        return done.words

    def undo(self, session: Session) -> tuple[str, str, str]:
        """Take back one's last decision of this sitting: (words, queue, key)."""
        actions = self._undo.get(session.user.name)
        if not actions:
            raise InputError("there is nothing of this sitting to undo; older decisions are taken back in the record's history")
        action = actions.pop()
        self.decider.undo(action.done.rows, session.user)
        self._after_undo(action.key, session)
        session.stored = False
        self.words_on_pairs = self.words_on_pairs or action.queue == "duplicates"
        return f"Taken back: {action.done.words}", action.queue, action.key

    def take_back(self, kind: str, seq: int, key: str, session: Session) -> str:
        """Take back one's own row from the history of a record."""
        if not session.user.decides:
            raise InputError("you came in as a viewer; only who decides takes decisions back")
        self.decider.undo([(kind, seq)], session.user)
        self._after_undo(key, session)
        session.stored = False
        return "Taken back; it stays in the history and counts no more."

    def standing(self, user: User) -> Standing:
        """Progress of all."""
        return Standing(
            read_ledger(self.store, self.review.protocol), self.home(user), paces(self.store), agreements(self.store),
            with_themselves(self.store), self.run.words,
        )  # fmt: skip

    def join_pairs(self, user: User) -> str:
        """Find duplicates anew with people's words on pairs."""
        if not user.decides:
            raise InputError("you came in as a viewer; ask a reviewer to do this")
        receipt = deduplicate(self.store)
        self.words_on_pairs = False
        self.heads.forget()
        return f"Joined: {receipt.removed} of {receipt.records} records are duplicates now, {receipt.unsure} pair(s) wait."

    def freeze(self, user: User) -> str:
        """Freeze a version of the schema with what people said of proposals so far; arbiters only."""
        if user.role != "arbiter":
            raise InputError("only an arbiter freezes a version of the schema")
        done = freeze_words(self.review, self.store, user.name)
        counts = ", ".join(f"{name} {count}" for name, count in done.decisions.items())
        told = "is frozen" if done.new else "was frozen before with these fields"
        left = f"; left for later: {', '.join(done.left)}" if done.left else ""
        use = "" if done.in_protocol else f" To use it, put the [[fields]] of {done.path.name} into {PROTOCOL_NAME}."
        return f"Version {done.version} {told}: {done.fields} field(s) ({counts}){left}.{use}"

    def unfrozen(self) -> int:
        """How many decisions on proposals are in no frozen version yet."""
        return unfrozen(self.store)

    def go_on(self, user: User) -> str:
        """Let the run go on; arbiters only."""
        if user.role != "arbiter":
            raise InputError("only an arbiter lets the run go on")
        return "The run goes on." if self.run.start() else "The run is on its way already."

    def close(self) -> None:
        """Stop the run and work in what people said of pairs; all else is stored already."""
        self.run.stop()
        if self.words_on_pairs:
            deduplicate(self.store)

    def _queue(self, name: str, user: User) -> Queue:
        queue = queue_named(name)
        if not may_see(queue, user):
            raise InputError(f"the queue '{queue.title}' is the arbiter's")
        return queue

    def _after_undo(self, key: str, session: Session) -> None:
        session.skipped.pop(key, None)
        for sent in [one for one in self._forms if one[0] == session.user.name and one[2] == key]:
            del self._forms[sent]
        self.heads.forget()

    def _require_read(self, queue: Queue, key: str, user: User) -> None:
        """Refuse what would spoil a blind reading: causes show the gold label and what the models say."""
        if queue.screen == "cause" and self.queues.reads_blind(*split(key), user):
            raise InputError("this record waits for a blind reading, which its gold label would spoil; name the cause afterwards")

    def _ran(self) -> None:
        self._stale = True  # told by the run's thread; the desk's own thread acts on it

    def _refresh(self) -> None:
        if self._stale:
            self._stale = False
            self.heads.forget()
