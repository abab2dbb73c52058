"""The files of a set, brought from the addresses on its card."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from litcascade.corpora.sets.corpus import Card, CardFile
from litcascade.corpora.sets.tables import stem
from litcascade.download import Downloaded, Progress, download
from litcascade.errors import InputError
from litcascade.registry import nearest
from litcascade.web import DownloadError, Web


@dataclass(frozen=True)
class FetchedFile:
    """A file of a card and what became of it: `got`, or the `fault` that kept it away.

    `differs`: the file came whole, but is another than the one that the card was written against.
    """

    path: str
    got: Downloaded | None
    fault: str | None = None
    differs: bool = False


def fetch_files(
    card: Card,
    folder: Path,
    part: str | None = None,
    *,
    web: Web | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[FetchedFile]:
    """Bring the files that the card has addresses for (or those of one part) into the folder.

    A file that is there is left as it is; one that fails does not keep the others away. A card without addresses, or a
    part that no file is named after, is an `InputError` that says where to look.
    """
    results = []
    for file in _chosen(card, part):
        say(file.path)
        results.append(_fetch(file, folder, web, progress))
    return results


def _chosen(card: Card, part: str | None) -> list[CardFile]:
    files = [file for file in card.files if file.url]
    if not files:
        raise InputError(f"the set '{card.name}' has no files to download; its source is {card.source}")
    if part is None:
        return files
    names = {published.part for published in card.published}
    shared = [file for file in files if not any(_belongs(file, name) for name in names)]
    own = [file for file in files if _belongs(file, part)]
    if not own:
        raise InputError(f"the set '{card.name}' has no file for part '{part}'{nearest(part, names)}")
    return [*own, *shared]


def _belongs(file: CardFile, part: str) -> bool:
    return stem(Path(file.path)) in (part, f"{part}_ids")


def _fetch(file: CardFile, folder: Path, web: Web | None, progress: Progress | None) -> FetchedFile:
    try:
        got = download(str(file.url), folder / file.path, web=web, progress=progress)
    except DownloadError as error:
        return FetchedFile(file.path, None, str(error))
    return FetchedFile(file.path, got, differs=file.sha256 is not None and got.sha256 != file.sha256)
