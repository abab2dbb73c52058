"""The full text of one record: what is there, else what the first source with an open copy brings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from litcascade.corpora.texts.keeping import write_whole
from litcascade.corpora.texts.retrieval.asking import Asker, for_good
from litcascade.corpora.texts.retrieval.contents import Refusal, jats_fault, pdf_fault
from litcascade.corpora.texts.retrieval.files import begins_well, file_for, file_there
from litcascade.corpora.texts.retrieval.manifest import Line, Manifest
from litcascade.corpora.texts.retrieval.wanted import NoCopyError, Outcome, OutcomeState, Place, Source, Wanted
from litcascade.download import sha256_of
from litcascade.errors import InputError
from litcascade.web import DownloadError

_OURS = frozenset({"email", "mailto", "api_key", "tool"})
_WORST: tuple[OutcomeState, ...] = ("failed", "not open", "unknown")


@dataclass
class Retrieval:
    """One run into one folder: the sources in their order, and what may be asked again."""

    folder: Path
    manifest: Manifest
    sources: list[Source]
    asker: Asker
    again: bool
    size_limit: int

    def one(self, wanted: Wanted, stem: str) -> Outcome:
        """What is there, else what the first source with an open copy brings, else why none did."""
        there = self._there(wanted, stem)
        if there:
            return there
        if not wanted.ids():
            return Outcome(wanted.record_id, "unknown", why="the record has no DOI, PMCID or PMID to ask by")
        lines = []
        for source in self.sources:
            line = None if self.again else self.manifest.settled(wanted, source.name)
            if line is None:
                line = self._ask(source, wanted, stem)
                self.manifest.add(line)
            if line.state == "retrieved" and line.file:
                path = self.folder / line.file
                return Outcome(wanted.record_id, "retrieved", path, source.name, line.url, line.why, line.licence)
            lines.append(line)
        return _none_of(wanted, lines)

    def _there(self, wanted: Wanted, stem: str) -> Outcome | None:
        line = self.manifest.retrieved(wanted.record_id)
        path = self.folder / line.file if line and line.file else None
        if line and path and path.is_file() and sha256_of(path) == line.sha256:
            why = f"there since {line.asked}"
            return Outcome(wanted.record_id, "retrieved", path, line.source, line.url, why, line.licence)
        found = path if path and path.is_file() else file_there(self.folder, stem)
        if not found:
            return None
        if not begins_well(found):
            return Outcome(wanted.record_id, "failed", found, why=f"{found.name} lies there and is no full text; move it away")
        return Outcome(wanted.record_id, "retrieved", found, why="it was put there; nothing was asked")

    def _ask(self, source: Source, wanted: Wanted, stem: str) -> Line:
        """One source asked, and each place it names tried until one gives the text."""
        refusals: list[Refusal] = []
        url: str | None = None
        try:
            for place in source.places(wanted, self.asker):
                url = url or plain(place.url)
                taken = self._take(place, wanted, stem)
                if isinstance(taken, Path):
                    return _brought(wanted, source.name, place, taken)
                refusals.append(taken)
        except NoCopyError as none:
            refusals.append(Refusal(none.why, none.state))
        except DownloadError as error:
            refusals.append(Refusal(str(error), for_good=False))
        states: list[OutcomeState] = [refusal.state for refusal in refusals] or ["not open"]
        state = min(states, key=_WORST.index)
        why = "; ".join(dict.fromkeys(refusal.why for refusal in refusals)) or "no address was named"
        final = all(refusal.for_good for refusal in refusals)
        return Line(_now(), wanted.record_id, wanted.ids(), source.name, state, final, why, url)

    def _take(self, place: Place, wanted: Wanted, stem: str) -> Path | Refusal:
        """The file of a place, checked and written; or why there is none."""
        if place.only_page:
            return Refusal("landing page: no PDF is named, only a page for people")
        try:
            got = self.asker.get(place.url, limit=self.size_limit)
        except DownloadError as error:
            return Refusal(str(error), for_good=for_good(error))
        fault = pdf_fault(got) if place.kind == "pdf" else jats_fault(got, wanted.doi)
        if fault:
            return replace(fault, why=f"{plain(place.url)}: {fault.why}")
        path = file_for(self.folder, stem, place)
        try:
            write_whole(path, got.body)
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror}); free space or choose another folder") from None
        return path


def _brought(wanted: Wanted, source: str, place: Place, path: Path) -> Line:
    return Line(
        _now(),
        wanted.record_id,
        wanted.ids(),
        source,
        "retrieved",
        True,
        url=plain(place.url),
        file=path.name,
        sha256=sha256_of(path),
        size=path.stat().st_size,
        licence=place.licence,
    )


def _none_of(wanted: Wanted, lines: Sequence[Line]) -> Outcome:
    """The outcome of a record that no source had, with what each said and where a person may look."""
    worst = min(lines, key=lambda line: _WORST.index(line.state))
    url = next((line.url for line in lines if line.url), None)
    why = "; ".join(f"{line.source}: {line.why}" for line in lines)
    return Outcome(wanted.record_id, worst.state, source=worst.source, url=worst.url or url, why=why)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def plain(url: str) -> str:
    """An address as it is kept and shown: without our e-mail address and keys."""
    part = urlsplit(url)
    named = parse_qsl(part.query, keep_blank_values=True)
    kept = [(name, value) for name, value in named if name not in _OURS]
    return url if len(kept) == len(named) else urlunsplit(part._replace(query=urlencode(kept)))
