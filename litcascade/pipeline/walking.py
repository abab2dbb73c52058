"""What is still to be asked, without asking it: the lives of pending records as far as stored replies take them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from litcascade.backends import Backend
from litcascade.backends.scripted import ScriptedBackend
from litcascade.pipeline.binding import Bound
from litcascade.pipeline.lengths import Lengths
from litcascade.pipeline.lives import Life
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.sinks import as_sink
from litcascade.pipeline.subjects import chunks
from litcascade.schemas import Request, Verdict
from litcascade.stages import Subject
from litcascade.store import Store


@dataclass(frozen=True)
class Waiting:
    """One question that no stored reply answers, with the reader and the record it is first asked for."""

    request: Request
    reader: str
    record_id: str


@dataclass
class Walked:
    """How far a chunk of records came: verdicts that stored replies give, the questions that wait, and the records that wait."""

    verdicts: list[Verdict] = field(default_factory=list)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    records: int = 0


async def walk(
    item: Bound, store: Store, ids: Sequence[str], recorder: Recorder, backends: Mapping[str, Backend] | None = None
) -> AsyncIterator[Walked]:
    """Take pending records through a stage by stored replies alone, chunk by chunk; no question is named twice.

    `backends` count the tokens of long reports; without them counts that are stored are used, else the stage plans by an upper
    guess.
    """
    named: set[str] = set()
    for chunk in chunks(store, item.stage.name, ids):
        subjects = [await _with_counts(item, store, subject, backends) for subject in chunk]
        walked = await _walk_chunk(item, subjects, recorder)
        walked.waiting = {key: waits for key, waits in walked.waiting.items() if key not in named}
        named.update(walked.waiting)
        yield walked


async def _walk_chunk(item: Bound, subjects: Sequence[Subject], recorder: Recorder) -> Walked:
    walked = Walked()
    lives = [Life(item.stage, subject) for subject in subjects]
    moved = lives
    while moved:
        asked = [(life, reader, request) for life in moved for reader, request in life.advance()]
        known = await recorder.known(list({request.key for _, _, request in asked}))
        going: dict[int, Life] = {}
        for life, reader, request in asked:
            if request.key in known:
                life.take(reader, request, known[request.key])
                going[id(life)] = life
            else:
                walked.waiting.setdefault(request.key, Waiting(request, reader, life.subject.record.record_id))
        moved = list(going.values())
    walked.verdicts = [life.verdict for life in lives if life.verdict]
    walked.records = sum(life.verdict is None for life in lives)
    return walked


async def _with_counts(item: Bound, store: Store, subject: Subject, backends: Mapping[str, Backend] | None) -> Subject:
    if not item.stage.needs_text:
        return subject
    counting = backends if backends is not None else {reader.via: _MUTE for reader in item.stage.readers.values()}
    return (await Lengths(item.stage, as_sink(store), counting).add([subject]))[0]


_MUTE = ScriptedBackend(lambda _: None)  # an engine that cannot count
