"""What the PDF reader makes of real papers, and how long the intake of 1,000 invented ones takes.

    python benchmarks/pdfs.py [FOLDER] [--papers 1000] [--pages 10] [--workers N]

FOLDER holds PDFs (by default those of the corpora beside this checkout); the share of words is that of the TEI twin's body, where
there is one in `../tei`. The intake reads the invented papers through `read_guarded`, as an import does.
"""

import argparse
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pypdfium2

from litcascade.corpora.texts import read_document
from litcascade.corpora.texts.guarded import read_guarded
from litcascade.schemas import Document

ROOT = Path(__file__).resolve().parents[1]
CORPORA = ROOT.parent / "shared" / "corpora" / "full_text" / "pdf"


def words(document: Document) -> Counter[str]:
    """The words of title, text and references, with how often."""
    parts = [document.title or "", document.text(), *(reference.text or "" for reference in document.references)]
    return Counter(re.findall(r"[^\W_]+", " ".join(parts).casefold()))


def twin_share(path: Path, document: Document) -> str:
    """Share of the words of the TEI twin's text that the document has; a dash where there is no twin."""
    twin = path.parent.parent / "tei" / f"{path.stem}.tei.xml"
    if not twin.is_file():
        return "-"
    wanted = Counter(re.findall(r"[^\W_]+", read_document(twin).text().casefold()))
    return f"{1 - sum((wanted - words(document)).values()) / max(sum(wanted.values()), 1):.3f}"


def pages_of(path: Path) -> int | None:
    """Number of pages; None where the file cannot be opened."""
    try:
        with pypdfium2.PdfDocument(path) as pdf:
            return len(pdf)
    except pypdfium2.PdfiumError:
        return None


def show_folder(folder: Path) -> None:
    """A line for every PDF of a folder."""
    print(f"{'file':32} {'state':21} {'pages':>5} {'s':>5} {'sect':>4} {'tabl':>4} {'refs':>4} {'TEI':>5}  title / flags")
    for path in sorted(folder.glob("*.pdf")):
        begin = time.perf_counter()
        found = read_document(path)
        seconds = time.perf_counter() - begin
        flags = "; ".join(f"{flag.kind.value} ({flag.count})" for flag in found.flags[1:])
        name = (found.title or found.note or "-")[:60]
        print(
            f"{path.name[:32]:32} {found.state.value:21} {pages_of(path) or '-':>5} {seconds:5.2f} {len(found.sections):4} "
            f"{len(found.tables):4} {len(found.references):4} {twin_share(path, found):>5}  {name}"
            + (f" [{flags}]" if flags else "")
        )


def write_papers(folder: Path, count: int, pages: int) -> None:
    """Write invented papers, each with words of its own."""
    sys.path.insert(0, str(ROOT))
    from tests.support.pdfs import paper, pdf

    for number in range(count):
        (folder / f"{number:04}.pdf").write_bytes(pdf(*paper(pages, number), pack=True))


def intake(folder: Path, workers: int | None) -> None:
    """Read all papers of a folder and print what it took."""
    states: Counter[str] = Counter()
    paths = sorted(folder.glob("*.pdf"))
    begin = time.perf_counter()
    for _, document in read_guarded(paths, workers=workers):
        states[document.state.value] += 1
    seconds = time.perf_counter() - begin
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = children.ru_utime + children.ru_stime
    print(f"{len(paths)} papers: {dict(states)}")
    print(f"{seconds:.1f} s, {len(paths) / seconds:.1f} documents/s; {busy:.1f} s of processor time")
    print(f"peak memory: {own.ru_maxrss / 1024:.0f} MiB here, {children.ru_maxrss / 1024:.0f} MiB in a reading process")


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=CORPORA)
    parser.add_argument("--papers", type=int, default=1000)
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    if options.folder.is_dir():
        show_folder(options.folder)
    with tempfile.TemporaryDirectory() as temporary:
        write_papers(Path(temporary), options.papers, options.pages)
        intake(Path(temporary), options.workers)


if __name__ == "__main__":
    main()
