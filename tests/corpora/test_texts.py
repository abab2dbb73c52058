import gzip
from pathlib import Path

import pytest

from litcascade.corpora.texts import Known, Matcher, find_files, read_document
from litcascade.errors import InputError
from litcascade.schemas import DocumentState, FlagKind

JATS = """<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>
<article-id pub-id-type="doi">10.5555/T.1</article-id><title-group><article-title>Zinc <italic>in vivo</italic> again</article-title></title-group>
<abstract><p>Adults (<italic>n</italic> = 40).</p></abstract></article-meta></front>
<body><sec><title>Methods</title><p>We gave 75 mg<sup>1</sup> daily.</p><sec><title>People</title><p>Forty adults.</p></sec></sec>
<sec><title>Results</title><p>See the table.<table-wrap><label>Table 1</label><caption><p>Pain</p></caption><table><tr><th>Arm</th><th>n</th></tr>
<tr><td>Zinc</td><td>20</td></tr></table></table-wrap></p></sec></body><back><ref-list><ref/><ref/></ref-list></back></article>"""
TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Zinc</title></titleStmt><sourceDesc><biblStruct>
<idno type="DOI">10.5555/t.2</idno></biblStruct></sourceDesc></fileDesc><profileDesc><abstract><p>Short.</p></abstract></profileDesc></teiHeader>
<text><body><div><head>Methods</head><p>We gave <ref>zinc</ref> daily.</p></div></body><back><div type="references"><listBibl><biblStruct/></listBibl></div></back></text></TEI>"""
BOMB = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><article><body><sec><p>&b;&b;</p></sec></body></article>'
LEAK = (
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><article><body><sec><p>before &x; after</p></sec></body></article>'
)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_jats_gives_all_text_in_order(tmp_path: Path) -> None:
    document = read_document(put(tmp_path / "a.nxml", JATS))
    assert (document.state, document.format, len(document.references)) == (DocumentState.PARSED, "jats", 2)
    assert document.title == "Zinc in vivo again"
    assert document.abstract == "Adults (n = 40)."
    assert [section.heading for section in document.sections] == ["Methods", "People", "Results"]
    assert "Zinc | 20" in document.text()
    assert "See the table." in document.text()


def test_tei_gives_sections_and_references(tmp_path: Path) -> None:
    document = read_document(put(tmp_path / "a.tei.xml", TEI))
    assert (document.format, document.title, document.doi, len(document.references)) == ("tei", "Zinc", "10.5555/t.2", 1)
    assert document.sections[0].text == "We gave zinc daily."


def test_packed_files_are_read(tmp_path: Path) -> None:
    assert read_document(put(tmp_path / "a.nxml.gz", gzip.compress(JATS.encode()))).state is DocumentState.PARSED
    assert read_document(put(tmp_path / "b.nxml.gz", b"\x1f\x8bbroken")).state is DocumentState.BROKEN


@pytest.mark.parametrize(
    ("name", "content", "state"),
    [
        ("a.xml", "", DocumentState.EMPTY),
        ("a.xml", "<TEI xmlns='http://www.tei-c.org/ns/1.0'><text><body/></text></TEI>", DocumentState.EMPTY),
        ("a.xml", "<article><body><sec><p>cut", DocumentState.BROKEN),
        ("a.xml", "<html>503 busy</html>", DocumentState.BROKEN),
        ("a.txt", "\n \n", DocumentState.EMPTY),
        ("a.pdf", "not a pdf", DocumentState.BROKEN),
        ("a.pdf", "", DocumentState.EMPTY),
    ],
)
def test_what_cannot_be_read_ends_in_its_state(tmp_path: Path, name: str, content: str, state: DocumentState) -> None:
    document = read_document(put(tmp_path / name, content))
    assert document.state is state
    assert document.note


def test_no_entity_is_expanded_and_nothing_is_fetched(tmp_path: Path) -> None:
    assert "aaaaaaaaaa" not in read_document(put(tmp_path / "a.xml", BOMB)).text()
    text = read_document(put(tmp_path / "b.xml", LEAK)).text()
    assert Path("/etc/hostname").read_text(encoding="utf-8").strip() not in text


def test_files_are_matched_by_id_doi_and_name(tmp_path: Path) -> None:
    matcher = Matcher([Known("#12", "10.5555/t.1"), Known("b", "10.5555/x/y.3"), Known("c", None)])
    jats = read_document(put(tmp_path / "whatever.nxml", JATS))
    assert matcher.match(jats, tmp_path / "whatever.nxml")[0] == "#12"
    plain = read_document(put(tmp_path / "z.txt", "words of a report"))
    assert matcher.match(plain, Path("10.5555_x_y.3.pdf"))[0] == "b"
    assert matcher.match(plain, Path("C.tei.xml.gz"))[0] == "c"
    missing, why = matcher.match(plain, Path("nobody.pdf"))
    assert missing is None
    assert "nobody" in why


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no full texts"):
        find_files(tmp_path)


def test_the_trials_and_the_bad_pdfs_of_the_corpora(corpora: Path) -> None:
    trials = [read_document(path) for path in find_files(corpora / "rct_numeric" / "full_text_jats")[0]]
    assert len(trials) == 56
    assert sum(document.readable for document in trials) == 55
    assert sum(document.state is DocumentState.PARSED for document in trials) == 47
    warned = [document for document in trials if document.state is DocumentState.WARNED]
    assert {flag.kind for document in warned for flag in document.flags} == {FlagKind.CUT}, "tables given as pictures only"
    assert all(document.title for document in trials)
    bad = {path.name: read_document(path).state.value for path in (corpora / "full_text" / "pdf").glob("*.pdf")}
    assert bad["jabref_encrypted.pdf"] == "encrypted"
    assert bad["zero-size-pdf.pdf"] == "empty"
    assert bad["broken-pdf.pdf"] == "broken"
    assert bad["robotreviewer_example.pdf"] == "parsed"
