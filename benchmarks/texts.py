"""Full texts read into the document model: what was found in every file, how it agrees with twins, and how fast it is.

usage: texts.py xml FOLDER | texts.py speed [--documents N] [--kilobytes N]

`xml` reads every TEI, JATS and HTML file below a folder and prints a table. A twin is a file of the same name ending in .json (as
GROBID's client and s2orc-doc2json write it) or .pdf anywhere below the folder or beside it. Of a JSON twin: the share of its
passages that stand in our text and of its references whose title is one of ours. Of a PDF: the share of our sentences of which
nine words in ten are in the PDF. `speed` writes TEI documents of invented text to a temporary folder and reads them in two
processes.
"""

import argparse
import json
import random
import re
import resource
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from litcascade.corpora.texts import find_files, read_document
from litcascade.schemas import Document

MARKUP = ("tei", "jats", "html")
WORDS_FOUND = 0.9
LONG = 40


def fold(text: str) -> str:
    """Letters and digits alone, in lower case."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()


def stem(path: Path) -> str:
    """The name of a file without the endings of texts."""
    return re.sub(r"(\.tei|\.jats)?\.(xml|nxml|html?|json|pdf)(\.gz)?$", "", path.name)


def twins_of(folder: Path) -> dict[str, list[Path]]:
    """JSON and PDF files below a folder and its neighbours, by name."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.parent.rglob("*")):
        if path.suffix in (".json", ".pdf") and path.is_file():
            found.setdefault(stem(path), []).append(path)
    return found


def sentences(document: Document) -> Iterator[str]:
    """The sentences of the sections, long ones alone."""
    for section in document.sections:
        for line in section.text.split("\n"):
            yield from (part for part in re.split(r"(?<=[.?!])\s+(?=[A-Z])", line) if len(part) > LONG)


def json_agreement(document: Document, path: Path) -> str:
    """How a JSON made by another tool out of the same paper agrees."""
    twin: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    parsed = twin.get("pdf_parse", twin)
    passages = [fold(part["text"]) for part in [*parsed["body_text"], *parsed.get("back_matter", [])] if part["text"].strip()]
    text = fold("\n".join(section.text for section in document.sections))
    cited = twin["references"] if "references" in twin else list(parsed["bib_entries"].values())
    titles = {fold(reference.title or "") for reference in document.references}
    named = [fold(entry["title"]) for entry in cited if entry.get("title")]
    passed = sum(passage in text for passage in passages)
    same = sum(title in titles for title in named)
    return f"{path.parent.name}: {passed}/{len(passages)} passages, {same}/{len(named)} titles"


def pdf_agreement(document: Document, path: Path) -> str:
    """How much of a document's sentences is in the PDF."""
    import pypdfium2

    pdf = pypdfium2.PdfDocument(path)
    words: set[str] = set()
    for page in pdf:
        plain = page.get_textpage().get_text_range().replace("\ufffe\r\n", "").replace("\ufffe", "").replace("-\r\n", "")
        words |= set(re.findall(r"\w{3,}", unicodedata.normalize("NFKC", plain).casefold()))
    pdf.close()
    every = [set(re.findall(r"\w{3,}", unicodedata.normalize("NFKC", sentence).casefold())) for sentence in sentences(document)]
    found = sum(len(wanted & words) >= WORDS_FOUND * len(wanted) for wanted in every)
    return f"pdf: {found}/{len(every)} sentences"


def row_of(path: Path, document: Document, twins: list[Path]) -> str:
    """One file as a row of the table."""
    agreements = [(json_agreement if twin.suffix == ".json" else pdf_agreement)(document, twin) for twin in twins]
    levels = max((section.level for section in document.sections), default=0)
    flags = ", ".join(f"{flag.kind.value} ({flag.count})" for flag in document.flags)
    cells: list[object] = [path.name, document.format, document.state.value, "yes" if document.title else "no"]
    cells += [len(document.abstract or ""), len(document.sections), levels, len(document.tables), len(document.figures)]
    cells += [len(document.references), flags or "–", "; ".join(agreements) or "–"]
    return "| " + " | ".join(map(str, cells)) + " |"


def table(folder: Path) -> None:
    """Print the table of a folder."""
    twins = twins_of(folder)
    print("| file | format | state | title | abstract | sections | levels | tables | figures | references | flags | twins |")
    print("|---" * 12 + "|")
    for path in find_files(folder)[0]:
        if not path.name.lower().endswith(".pdf"):
            document = read_document(path)
            if document.format in MARKUP:
                print(row_of(path, document, twins.get(stem(path), [])))


def invented(rng: random.Random, kilobytes: int) -> str:
    """A TEI document as GROBID writes it, of made-up words, with coordinates, a table, figures and references."""
    stock = ["".join(rng.choice("bdfgklmnprstv") + rng.choice("aeiou") for _ in range(rng.randint(1, 4))) for _ in range(900)]

    def words(count: int) -> str:
        return " ".join(rng.choices(stock, k=count))

    def paragraph(page: int) -> str:
        said = "".join(
            f'<s coords="{page},56,{rng.randint(60, 700)},480,9">{words(12)} <ref type="bibr" target="#b1">[1]</ref>.</s>'
            for _ in range(6)
        )
        return f'<p coords="{page},56,80,480,9;{page + 1},56,80,240,9">{said}</p>'

    def cited(number: int) -> str:
        return (
            f'<biblStruct xml:id="b{number}"><analytic><title level="a" type="main">{words(9)}</title><author><persName>'
            f"<forename>A</forename><surname>{words(1)}</surname></persName></author><idno type='DOI'>10.5555/{number}</idno>"
            f'</analytic><monogr><title level="j">{words(3)}</title><imprint><biblScope unit="volume">{number}</biblScope>'
            f'<date when="20{number:02}"/></imprint></monogr></biblStruct>'
        )

    rows = "".join(f"<row>{''.join(f'<cell>{words(2)}</cell>' for _ in range(6))}</row>" for _ in range(12))
    cites = "".join(map(cited, range(30)))
    floats = f'<figure type="table" coords="3,1,1,1,1"><head>Table 1.</head><figDesc>{words(9)}</figDesc><table>{rows}</table>'
    floats += f"</figure><figure><head>Figure 1.</head><figDesc>{words(40)}</figDesc></figure>"
    body, page = "", 1
    while len(body) + len(cites) + len(floats) < kilobytes * 1000:
        body += f'<div><head n="{page}.1">{words(3)}</head>{paragraph(page)}{paragraph(page + 1)}</div>'
        page += 1
    return (
        '<?xml version="1.0" encoding="UTF-8"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>'
        f"<title>{words(9)}</title></titleStmt></fileDesc><encodingDesc><appInfo><application version='0.8.2' ident='GROBID'/>"
        f"</appInfo></encodingDesc><profileDesc><abstract><p>{words(150)}</p></abstract></profileDesc></teiHeader><text><body>{body}{floats}</body>"
        f'<back><div type="references"><listBibl>{cites}</listBibl></div></back></text></TEI>'
    )


def read_some(paths: list[Path]) -> tuple[int, int, int]:
    """Read files; (characters of text, sections, peak memory of this process in KiB)."""
    documents = (read_document(path) for path in paths)
    sizes = [(len(document.text()), len(document.sections)) for document in documents]
    return sum(size for size, _ in sizes), sum(count for _, count in sizes), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def speed(documents: int, kilobytes: int) -> None:
    """Print seconds and peak memory of reading invented TEI in two processes."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number:05}.tei.xml" for number in range(documents)]
        texts = [invented(rng, kilobytes) for _ in range(20)]
        for number, path in enumerate(paths):
            path.write_text(texts[number % 20], encoding="utf-8")
        size = sum(path.stat().st_size for path in paths) / documents / 1000
        started = time.perf_counter()
        with ProcessPoolExecutor(2) as pool:
            parts = list(pool.map(read_some, [paths[at : at + 50] for at in range(0, documents, 50)]))
        seconds = time.perf_counter() - started
    print(
        f"{documents:,} TEI documents of {size:.0f} kB in {seconds:.1f} s on two processes ({documents / seconds:.0f} a second)"
    )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.1f} s of processor time, whatever else the machine did")
    print(f"{sum(count for _, count, _ in parts):,} sections, {sum(chars for chars, _, _ in parts):,} characters")
    first, last = parts[min(1, len(parts) - 1)][2], max(peak for _, _, peak in parts)
    print(f"peak memory of a process: {first / 1024:.0f} MiB after the first 50, {last / 1024:.0f} MiB at the end")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("xml", help="a table of TEI, JATS and HTML files").add_argument("folder", type=Path)
    timed = parts.add_parser("speed", help="seconds and memory of reading invented TEI")
    timed.add_argument("--documents", type=int, default=1000)
    timed.add_argument("--kilobytes", type=int, default=50)
    chosen = parser.parse_args()
    if chosen.part == "xml":
        table(chosen.folder)
    else:
        speed(chosen.documents, chosen.kilobytes)


if __name__ == "__main__":
    main()
