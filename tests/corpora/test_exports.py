"""Real exports: nothing lost, the same library from every tool, agreement with JabRef's expected output."""

import csv
import gzip
import io
import json
import re
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litcascade.corpora import Export, Repair, SetAside, read_records, read_text_as
from litcascade.corpora.encoding import Encoding
from litcascade.corpora.readers import READERS
from litcascade.corpora.source import Source
from litcascade.errors import InputError
from litcascade.schemas import Record

FIELDS = ("title", "authors", "year", "doi", "abstract")
# Each was looked at; docs/imports.md says why.
KNOWN = {
    ("MedlineImporterTestBookArticleSet", "title"), ("MedlineImporterTestKeywordSingleEntry", "authors"),
    ("MedlineImporterTestMathML", "abstract"), ("MedlineImporterTestNbib", "authors"),
    ("MedlinePlainImporterTestInproceeding", "title"), ("NbibImporterTest", "doi"), ("NbibImporterTest", "abstract"),
    ("OvidImporterTest4", "year"), ("OvidImporterTest5", "year"), ("OvidImporterTest5", "authors"),
    ("OvidImporterTest6", "authors"), ("RisImporterTest3", "authors"), ("RisImporterTest7", "authors"),
}  # fmt: skip
COUNTS_DIFFER = {"RisImporterTest1"}
NOT_READ = {
    "CopacImporterTest1", "CopacImporterTest2", "MedlineImporterTestMinimalEntry", "MedlinePlainImporterTestMultiAbstract",
    "MedlinePlainImporterTestMultiTitle", "RepecNepImporterTest1", "RepecNepImporterTest2", "RepecNepImporterTest3",
}  # fmt: skip


def folded(value: object) -> object:
    if isinstance(value, tuple):
        return [folded(item) for item in value]
    return re.sub(r"[\W_]+", " ", value).casefold().strip() if isinstance(value, str) else value


def pairs(folder: Path) -> Iterator[tuple[str, Path, Path]]:
    for bib in sorted(folder.glob("*.bib")):
        stem = bib.stem.replace("TestBib", "Test") if bib.stem.startswith("Ovid") else bib.stem
        inputs = [path for path in folder.glob(f"{stem}.*") if path.suffix != ".bib"]
        if inputs:
            yield stem, inputs[0], bib


def test_jabrefs_inputs_agree_with_its_expected_output(corpora: Path) -> None:
    compared, refused, differ, counts = 0, set(), set(), set()
    for stem, path, bib in pairs(corpora / "exports" / "jabref_importer_tests"):
        try:
            ours, theirs = read_records(path)[0].records, read_records(bib)[0].records
        except InputError:
            refused.add(stem)
            continue
        compared += 1
        if len(ours) != len(theirs):
            counts.add(stem)
            continue
        differ |= {
            (stem, name)
            for one, other in zip(ours, theirs, strict=True)
            for name in FIELDS
            if (folded(getattr(one, name)) or None) != (folded(getattr(other, name)) or None)
        }
    assert compared == 44
    assert (refused, counts, differ) == (NOT_READ, COUNTS_DIFFER, KNOWN)


HUNDRED = ("CSV/_baseline.csv", "RIS/_baseline.ris", "TSV/_baseline.tsv", "TSV/_baseline_refworks.tsv", "XLSX/_baseline.xlsx")
TEN = (
    "CSV/_baseline_embase.csv", "CSV/_baseline_excel.csv", "CSV/_baseline_rayyan.csv", "CSV/_baseline_zotero.csv",
    "RIS/_baseline_embase.ris", "RIS/_baseline_endnote.ris", "RIS/_baseline_eppireviewer.ris", "RIS/_baseline_mendeley.ris",
    "RIS/_baseline_rayyan.ris", "RIS/_baseline_refworks.ris", "RIS/_baseline_zotero.ris", "XLSX/_baseline_embase.xlsx",
)  # fmt: skip


@pytest.mark.parametrize(("names", "count"), [(HUNDRED, 100), (TEN, 10)])
def test_one_library_is_the_same_from_every_tool_that_kept_it(corpora: Path, names: tuple[str, ...], count: int) -> None:
    folder = corpora / "exports" / "asreview_citation_file_formatting"

    def known(name: str) -> dict[object, tuple[int | None, object]]:
        records = read_records(folder / name)[0].records
        assert len(records) == count, name
        return {folded(record.title): (record.year, folded(record.abstract)) for record in records}

    first = known(names[-1])
    for name in names:
        other = known(name)
        assert other.keys() == first.keys(), name
        odd = [title for title in first if other[title] != first[title]]
        assert len(odd) <= (1 if "refworks.tsv" in name or name.startswith("XLSX/_baseline.xlsx") else 0) or count == 100, (
            name,
            odd,
        )
        assert [other[title][0] for title in first] == [first[title][0] for title in first], name


def test_dois_of_the_hundred_agree(corpora: Path) -> None:
    folder = corpora / "exports" / "asreview_citation_file_formatting"
    found = [sorted(r.doi or "" for r in read_records(folder / name)[0].records) for name in HUNDRED]
    assert all(dois == found[0] for dois in found)


def test_excel_sheets_with_search_lines_above_and_old_workbooks(corpora: Path) -> None:
    parsed, receipt = read_records(corpora / "exports" / "wos" / "flashfloods_savedrecs.xls")
    assert (receipt.format, receipt.read, receipt.refused) == ("xls", 10, 0)
    assert {item.reason for item in parsed.set_aside} == {"stands above the header"}
    assert read_records(corpora / "exports" / "wos" / "agridata_wos_italy.xls")[1].read == 97
    parsed, receipt = read_records(corpora / "asreview_hosted" / "van_de_Schoot_2017.xlsx")
    assert receipt.read == 6189
    assert receipt.labels == {
        "full_text: exclude": 6146, "full_text: include": 43, "title_abstract: exclude": 5801, "title_abstract: include": 388,
    }  # fmt: skip
    assert parsed.records[0].year == 2001
    assert read_records(corpora / "cohen2006" / "Triptans.csv.gz")[1].read == 671


SCOPUS = ("Authors", "Title", "Year", "Volume", "Page start", "DOI", "Link", "Abstract", "Keywords", "Funding", "Type", "EID")


def scopus_row(number: int) -> list[str]:
    return [
        f"Doe, A.; Roe, B{number}.", f"Zinc lozenges, dose {number}, and colds", str(1990 + number), str(number), str(number * 7),
        f"10.5555/s.{number}", f"https://example.org/{number}", "Adults took zinc, and were followed. " * 9, "zinc; colds",
        "Fund of Examples" if number % 2 else "", "Article", f"2-s2.0-{number:08d}",
    ]  # fmt: skip


@settings(max_examples=60)
@given(
    place=st.integers(0, 12),
    text=st.sampled_from(["", "Fund, 12", "a; b; c", "10.5555/other", "2001", "word"]),
    wide=st.integers(2, 11),
)
def test_a_surplus_cell_is_left_out_or_the_row_set_aside_but_never_misread(place: int, text: str, wide: int) -> None:
    rows = [scopus_row(number) for number in range(12)]
    wanted = rows[wide]
    rows[wide] = [*wanted[:place], text, *wanted[place:]]
    out = io.StringIO()
    csv.writer(out).writerows([SCOPUS, *rows])
    parsed = read_text_as("csv", out.getvalue())
    assert len(parsed.records) + sum(item.is_record for item in parsed.set_aside) == 12
    for record in parsed.records:
        number = int((record.doi or "").rpartition(".")[2] or wide) if record.doi != "10.5555/other" else wide
        expected = scopus_row(number)
        found = (record.title, str(record.year), record.doi, record.abstract, record.kind, record.volume)
        assert found == (expected[1], expected[2], expected[5], expected[7].strip(), expected[10], expected[3])


def test_an_unquoted_comma_in_a_title_never_cuts_it() -> None:
    rows = [scopus_row(number) for number in range(6)]
    first, _, rest = rows[3][1].partition(", ")
    rows[3] = [rows[3][0], first, rest, *rows[3][2:]]
    out = io.StringIO()
    csv.writer(out).writerows([SCOPUS, *rows])
    parsed = read_text_as("csv", out.getvalue())
    assert [record.title for record in parsed.records] == [scopus_row(n)[1] for n in (0, 1, 2, 4, 5)]
    assert [item.line for item in parsed.set_aside] == [5]


def test_ovid_entries_are_read_by_their_headings() -> None:
    text = "<1>\nUnique Identifier\n  99001\nTitle\n  Zinc for colds.\n  [Review]\nAuthor\n  Doe, Ana 1;  Roe, Ben 2, 3\nSource\n"
    text += "  J Ex.   28(2):103-106, April 2015.\nAbstract\n  One.\n  Two.\nDatabase\n  Ovid MEDLINE(R)\n<2>\nTitle\n  Next\n"
    first, second = read_text_as("ovid", text).records
    assert (first.title, first.authors, first.year) == ("Zinc for colds", ("Doe, Ana", "Roe, Ben"), 2015)
    assert (first.journal, first.volume, first.issue, first.pages) == ("J Ex", "28", "2", "103-106")
    assert (first.abstract, first.pmid, second.title) == ("One. Two.", "99001", "Next")


def test_json_lines_arrays_and_csl(tmp_path: Path) -> None:
    csl = {
        "title": "Zinc", "author": [{"family": "Doe", "given": "Ana"}, {"literal": "The Group"}], "container-title": "J Ex",
        "issued": {"date-parts": [[2020, 3]]}, "DOI": "10.5555/J.1", "page": "1-9", "abstract": "Words.",
    }  # fmt: skip
    path = tmp_path / "x.json"
    path.write_text(json.dumps([csl, {"title": "Honey"}]), encoding="utf-8")
    first, second = read_records(path)[0].records
    assert (first.authors, first.journal, first.year) == (("Doe, Ana", "The Group"), "J Ex", 2020)
    assert (first.doi, first.pages, second.title) == ("10.5555/j.1", "1-9", "Honey")
    path.write_text('{"title": "A"}\nnot json\n[1]\n{"title": "B"}\n', encoding="utf-8")
    parsed, receipt = read_records(path)
    assert [record.title for record in parsed.records] == ["A", "B"]
    assert [(item.line, item.is_record) for item in parsed.set_aside] == [(2, True), (3, True)]
    assert (receipt.in_file, receipt.read, receipt.refused) == (4, 2, 2)
    path.write_text('[{"title": "A"}, {"title": ', encoding="utf-8")
    parsed, receipt = read_records(path)
    assert ([record.title for record in parsed.records], receipt.refused) == (["A"], 1)


@pytest.mark.parametrize("name", ["csv", "ovid", "json", "ris"])
def test_an_unclosed_quote_or_record_takes_no_neighbour(name: str) -> None:
    texts = {
        "csv": 'id,title\n1,One\n2,"never closed\n3,Three\n4,"a ""good"" one"\n',
        "ovid": "<1>\nTitle\n  One\n<2>\n<3>\nTitle\n  Three\n<4>\nTitle\n  Four\n",
        "json": '{"title": "One"}\n{"title": "Two\n{"title": "Three"}\n{"title": "Four"}\n',
        "ris": "TY  - JOUR\nTI  - One\nTY  - JOUR\nTI  - \nER  - \nTY  - JOUR\nTI  - Three\nER  - \nTY  - JOUR\nTI  - Four\n",
    }
    parsed = read_text_as(name, texts[name])
    titles = [record.title for record in parsed.records if record.title]
    wanted = {"csv": ["One", "never closed", "Three", 'a "good" one']}
    assert titles == wanted.get(name, ["One", "Three", "Four"])


RIS, NBIB = "TY  - JOUR\nTI  - One\nAB  - abc\nER  - \n", "PMID- 123\nTI  - Two\n\nPMID- 124\nTI  - Three\n"


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("ris", RIS + NBIB, (1, 2)),
        ("ris", RIS.replace("ER  - \n", "") + NBIB, (1, 2)),
        ("nbib", NBIB + "\n" + RIS, (2, 1)),
        ("bibtex", "@misc{a, title={One}}\n" + RIS, (1, 1)),
    ],
)
def test_records_of_another_format_in_the_file_are_counted_as_not_read(
    tmp_path: Path, name: str, text: str, counts: tuple[int, int]
) -> None:
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    parsed, receipt = read_records(path)
    assert (receipt.format, receipt.read, receipt.refused) == (name, *counts)
    assert any("part it in two" in repair for repair in receipt.repairs)
    assert all("PMID" not in (record.abstract or "") for record in parsed.records)


def test_a_second_header_holds_for_the_rows_below_it() -> None:
    text = "id,title,year\n1,One,2001\nid,title,year\n2,Two,2002\nyear,doi,title,abstract\n2003,10.5555/t,Three,Words\n"
    parsed = read_text_as("csv", text)
    assert [(record.title, record.year) for record in parsed.records] == [("One", 2001), ("Two", 2002), ("Three", 2003)]
    assert [item.reason for item in parsed.set_aside] == ["is a header again"] * 2


def test_rows_that_a_stray_quotation_mark_joined_are_not_one_record() -> None:
    text = 'id,title,abstract\n1,T1,"abs begins\n2,T2,abs2\n3,T3,abs3 ends"\n4,T4,"a, b\nc, d, e"\n'
    parsed = read_text_as("csv", text)
    assert [record.title for record in parsed.records] == ["T4"]
    assert [(item.line, item.is_record) for item in parsed.set_aside] == [(2, True)]
    assert "line 3" in parsed.set_aside[0].reason


def test_two_arrays_and_printed_objects_are_read_whole() -> None:
    text = '[{"title": "A"}]\n[{"title": "B"}, {"title": "C"}]\n'
    assert [record.title for record in read_text_as("json", text).records] == ["A", "B", "C"]
    text = '{\n "title": "A"\n}\n{\n "title": "B"\n}\n'
    assert [record.title for record in read_text_as("json", text).records] == ["A", "B"]


def test_odd_json_costs_no_neighbour() -> None:
    deep = '{"title": "deep", "x": ' + "[" * 700 + "]" * 700 + "}"
    parsed = read_text_as("json", '{"title": "a \\ud800 one"}\n' + deep + '\n{"title": "c"}\n')
    titles = [record.title for record in parsed.records]
    assert titles[0] == "a ? one"
    assert titles[-1] == "c"
    assert len(titles) + len(parsed.set_aside) == 3


def test_an_xml_is_read_in_the_encoding_it_names(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="windows-1251"?><xml><records><record><titles><title>Лечение</title></titles></record></records></xml>'
    path = tmp_path / "x.xml"
    path.write_bytes(text.encode("windows-1251"))
    parsed, receipt = read_records(path)
    assert (parsed.records[0].title, receipt.encoding) == ("Лечение", "cp1251")


def test_a_wrapped_line_that_looks_like_a_loose_start_opens_no_record() -> None:
    text = "TY  - JOUR\nTI  - One\nAB  - levels of\nTY - tyrosine and others\nER  - \nTY  - JOUR\nTI  - Two\nER  - \n"
    parsed = read_text_as("ris", text)
    assert [(record.title, record.abstract) for record in parsed.records] == [
        ("One", "levels of TY - tyrosine and others"),
        ("Two", None),
    ]


def test_columns_cannot_be_declared_for_what_has_none(tmp_path: Path) -> None:
    path = tmp_path / "x.ris"
    path.write_text(RIS, encoding="utf-8")
    with pytest.raises(InputError, match="is ris, which has no columns to name"):
        read_records(path, {"title": "Kopf"})
    path.write_text('{"title": "A"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="no object has a key 'titel' for title; did you mean 'title'"):
        read_records(path, {"title": "titel"})


def zipped(**members: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/"), text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (zipped(a="x"), "is a zip archive, not an export"),
        (zipped(**{"word__document.xml": "x"}), "is a Word document"),
        (zipped(**{"xl__workbook.xml": "x"}), "cannot be read as a workbook"),
        (b"PK\x03\x04 torn", "is a damaged zip archive"),
        (b"\xd0\xcf\x11\xe0 torn", "cannot be read as a workbook"),
        (b"PAR1 torn", "cannot be read as Parquet"),
        (gzip.compress(b"TY  - JOUR\nTI  - x\nER  - \n" * 900)[:-30], "cannot be unpacked"),
        (gzip.compress(b""), "the file is empty"),
        (b"\x1f\x8b", "cannot be unpacked"),
        (b"\x1f\x8b\x08\x00\x00", "cannot be unpacked"),
        (gzip.compress(zipped(**{"xl__workbook.xml": "x"})), "is packed with gzip; unpack it"),
        (b"\x89PNG\r\n", "is a picture"),
        (b"[{}]", "no object holds titles or abstracts"),
        (b'{"abstrcat": 1}\n' * 3, "no object holds titles or abstracts; their keys are: abstrcat"),
    ],
)
def test_what_is_no_export_is_named(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "x.ris"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=words):
        read_records(path)


class Endless(io.RawIOBase):
    """A start of a RIS file, then one line without end, made as it is read."""

    def __init__(self, start: bytes, size: int) -> None:
        self.left, self.start = size, start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = self.start or b"x" * min(len(buffer), self.left)
        piece = piece[: len(buffer)]
        buffer[: len(piece)] = piece
        self.left -= 0 if self.start else len(piece)
        self.start = b""
        return len(piece)


def source_of(start: bytes, size: int) -> Source:
    def opener() -> IO[bytes]:
        return io.BufferedReader(Endless(start, size))

    return Source("big.ris", "big", opener, Encoding("utf-8", "strict", "utf-8"))


@pytest.mark.parametrize(
    ("name", "start"), [("ris", b"TY  - JOUR\nTI  - "), ("nbib", b"PMID- 1\nTI  - "), ("bibtex", b"@misc{a, title={")]
)
def test_two_gigabytes_of_one_line_are_refused_and_not_held(name: str, start: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(InputError, match="longer than 64 MB"):
        list(READERS.get(name)(source_of(start, 2 * 2**30)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500 * 2**20


def many(count: int) -> bytes:
    return b"".join(b"TY  - JOUR\nID  - r%d\nTI  - Title %d\nAB  - %s\nER  - \n" % (n, n, b"word " * 400) for n in range(count))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    for count in (2_000, 8_000):
        path = tmp_path / f"{count}.ris"
        path.write_bytes(many(count))
        tracemalloc.start()
        assert sum(isinstance(item, Record) for item in Export(path).items()) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_a_damaged_xml_is_split_as_it_streams(tmp_path: Path) -> None:
    entry = "<record><titles><title>T{}</title></titles><pad>{}</pad></record>"
    text = "<xml><records>" + "".join(entry.format(n, "x" * 3_000) for n in range(2_000)) + "<record><titles></xml>"
    path = tmp_path / "x.xml"
    path.write_text(text, encoding="utf-8")
    items = list(Export(path).items())
    assert sum(isinstance(item, Record) for item in items) == 2_000
    assert sum(isinstance(item, SetAside) and item.is_record for item in items) == 1
    assert any(isinstance(item, Repair) and "each record was read for itself" in item.words for item in items)


def test_a_database_named_as_source_is_no_journal() -> None:
    text = "id,title,source\n1,One,Scopus\n2,Two,J Ex\n"
    assert [record.journal for record in read_text_as("csv", text).records] == [None, "J Ex"]
