"""Write docs/imports.md: what the readers make of every export file of the corpora.

python tools/make_imports_table.py [../shared/corpora/exports]
"""

import sys
from pathlib import Path

from litcascade.corpora import read_records
from litcascade.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Export files, read

`litcascade import FILE` tells the format from the content (the ending does not matter) and prints a receipt: records in the
file = records read + records refused; what stands outside records is kept aside with its line. Written by
`python tools/make_imports_table.py` from the export files in `../shared/corpora/exports`, which do not come with the program.

## What is read

| reader | files |
|---|---|
| `ris` | RIS of every dialect that keeps `TY … ER`: one or two blanks before the dash, text between records, missing end tags |
| `nbib`, `pubmed_xml` | PubMed / MEDLINE text and XML |
| `endnote_xml` | EndNote libraries as XML |
| `bibtex` | BibTeX and BibLaTeX |
| `wos` | Web of Science, tagged (`.ciw`, `.isi`, `.txt`); its tab-delimited and Excel exports are tables |
| `ovid` | Ovid's citation text (`<1>`, headings, indented values) |
| `csv` | CSV and TSV of Scopus, Covidence, Rayyan, Zotero, IEEE, ProQuest, Embase …, delimiter and header row found |
| `xlsx`, `xls` | Excel; every sheet that names titles or abstracts; a sheet is held whole |
| `json` | JSON lines or an array, CSL-JSON's names and dates included |
| `parquet` | Parquet |
| `asreview` | ASReview projects |

All but Excel and ASReview's are read as they stream: memory does not grow with the file. Files packed with gzip are
unpacked on the way. Encodings: byte-order mark first, then strict UTF-8, UTF-16 without a mark, what an XML prologue names,
else UTF-8 with single Windows-1252 bytes, which are counted. Code pages of other scripts (Shift-JIS, GB18030) are not
guessed: export as UTF-8.

100,000 RIS records (191 MB) on two cores: read in 8.5 s (rispy in the same run: 4.6 s), imported into the store in 26 s with
665 MiB, of which DuckDB may take 512 (`python benchmarks/imports.py`).

**Columns** of tables are told by their usual names, case aside. For other names say which is which:
`litcascade import FILE --columns title=Kopf,abstract=Inhalt`. Fields: record_id, title, abstract, authors, year, journal, volume,
issue, pages, first_page, last_page, doi, pmid, pmcid, url, kind. A table in which neither titles nor abstracts are found is
refused with its columns. A row with another number of cells than the header is refused with its line, for nobody can tell
which cell is which; but a row with a cell or two too many is read where the columns of the other rows tell which cell is
the surplus one (seen: a Scopus file put together from two exports, `litstudy_scopus.csv`), and the receipt says so.

**Files put one behind the other.** A second header in a table holds for the rows below it. Records of another format in a
file (RIS with PubMed text behind it) are counted as refused, and the receipt says to part the file.

**Ids.** A record keeps the id its file gives where no other record has it. Where two share one, neither keeps it, for a label
would bind to the wrong one; theirs are made of file name and position, and the receipt says so.

**Labels** that ASReview, Rayyan or a `label` column left in a file are kept with the record (include, exclude, maybe, conflict;
-1, blank and unknown words are no label). `litcascade import FILE --as gold` takes the includes and excludes as gold, under the
record of the review that has the same DOI, PMID, or title and year; an id or a place in the file alone binds nothing. What a
model decided is marked `(model)` in our own exports and never comes back as a label.

**Looked at:** years that cannot be read or span two are counted for a person to look at; retracted papers, retraction notices,
errata and expressions of concern are flagged, never dropped.

## Against JabRef's expected output

Of JabRef's test inputs in a format named above, title, authors, year, DOI and abstract agree with its expected `.bib`, but for
these, each looked at: a book chapter (JabRef takes the book's title), a subject person taken for an author, MathML (rendered
otherwise), a name's suffix (JabRef drops it), a record with a journal and no title (JabRef takes the journal), an abstract's
copyright line and a DOI in a PubMed file (JabRef's file lacks them), years and initials in Ovid's source lines (JabRef leaves
them out or spells them otherwise), names written given name first, editors listed as authors, and a file of ten `TY` lines of
which eight open empty records (those are refused, listed). JabRef's Copac, Inspec and RePEc inputs are other formats: refused
as not recognised, as are two MEDLINE files without any `PMID`.

## Every file

"""


def row(path: Path, root: Path) -> str:
    """One line of the table."""
    name = path.relative_to(root).as_posix()
    try:
        _, receipt = read_records(path)
    except InputError as error:
        reason = str(error).removeprefix(f"{path}: ").split(";")[0].split(". ")[0]
        return f"| {name} | – | refused: {reason} |" + " |" * 6
    counts = (receipt.in_file, receipt.read, receipt.refused, receipt.lines_set_aside)
    missing = (receipt.missing_titles, receipt.missing_abstracts)
    return f"| {name} | {receipt.format} | {receipt.encoding} | " + " | ".join(str(n) for n in (*counts, *missing)) + " |"


def main() -> None:
    """Write the page."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "corpora" / "exports"
    files = [
        path for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.startswith(("LICENSE", "README", "SOURCE"))
    ]  # fmt: skip
    header = "| file | format | encoding | in file | read | refused | lines aside | no title | no abstract |\n" + "|---" * 9 + "|"
    table = "\n".join([header, *(row(path, root) for path in files)])
    (ROOT / "docs" / "imports.md").write_text(f"{HEAD}{table}\n", encoding="utf-8")
    print(f"wrote docs/imports.md: {len(files)} files")


if __name__ == "__main__":
    main()
