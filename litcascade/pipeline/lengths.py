"""Tokens of long reports, counted by each reader's own tokenizer before a stage plans its prompts; kept in the store."""

import asyncio
from collections.abc import Mapping, Sequence

from litcascade.backends import Backend
from litcascade.pipeline.sinks import Sink
from litcascade.schemas import Reader
from litcascade.stages import Stage, Subject
from litcascade.stages.budget import TEMPLATE, Plan, estimate, key_of, texts_to_count
from litcascade.stages.reports import ReportStage


class Lengths:
    """Adds counts to subjects whose reports may not fit a reader's window; short ones are not counted at all.

    Where an engine has no tokenizer to ask, nothing is added and the stage plans by an upper guess.
    """

    def __init__(self, stage: Stage, store: Sink, backends: Mapping[str, Backend]) -> None:
        self._stage = stage if isinstance(stage, ReportStage) else None
        self._store = store
        self._backends = backends
        self._readers = [reader for reader in stage.readers.values() if reader.model is not None and reader.prompt is not None]
        self._dumb: set[str] = set()
        self._turn = asyncio.Lock()

    async def add(self, subjects: Sequence[Subject]) -> list[Subject]:
        """The same subjects, long ones with counts."""
        return [await self._one(subject) for subject in subjects] if self._stage else list(subjects)

    async def _one(self, subject: Subject) -> Subject:
        assert self._stage is not None
        document = subject.document
        if document is None or not document.readable:
            return subject
        counts: dict[str, dict[str, int]] = {}
        size = estimate(document.text())
        for reader in self._readers:
            fixed = self._stage.fixed_texts(subject, reader)
            around = sum(estimate(text) for text in fixed) + TEMPLATE + self._stage.answer_room(reader)
            fits = size + around <= reader.context and around <= reader.context // 2
            if fits or reader.via in self._dumb or reader.via in counts:
                continue
            async with self._turn:  # two chunks may want the same text counted
                found = await self._counted(reader, [*fixed, *texts_to_count(document)])
            if found is None:
                self._dumb.add(reader.via)
            else:
                counts[reader.via] = found
        return await self._windows_counted(subject.model_copy(update={"counts": counts})) if counts else subject

    async def _windows_counted(self, subject: Subject) -> Subject:
        """The windows themselves are counted too: a server that reads fewer tokens than these has cut the prompt."""
        assert self._stage is not None
        counts = {via: dict(known) for via, known in subject.counts.items()}
        for reader in self._readers:
            made = self._stage.plan(subject, reader) if reader.via in counts else None
            if isinstance(made, Plan):
                async with self._turn:
                    counts[reader.via] |= await self._counted(reader, made.windows) or {}
        return subject.model_copy(update={"counts": counts})

    async def _counted(self, reader: Reader, texts: Sequence[str]) -> dict[str, int] | None:
        assert reader.model is not None
        keys = {key_of(text): text for text in texts}
        model = (reader.model.name, reader.model.revision)
        known = self._store.token_counts(*model, list(keys))
        missing = [key for key in keys if key not in known]
        if missing:
            told = await self._backends[reader.via].count([keys[key] for key in missing])
            if told is None:
                return None
            fresh = dict(zip(missing, told, strict=True))
            self._store.append(
                "token_counts",
                [{"model": model[0], "revision": model[1], "text_key": key, "tokens": tokens} for key, tokens in fresh.items()],
            )
            known |= fresh
        return known
