"""Evidence Inference (1.0 and 2.0): what a trial reports of an outcome, with the passage that says so."""

import re
from collections import Counter
from pathlib import Path

from litcascade.corpora.build import build
from litcascade.corpora.sets.corpus import SETS, BenchmarkSet, Card, CardFile, Corpus, GoldField
from litcascade.corpora.sets.draft import Draft, examples
from litcascade.corpora.sets.tables import Row, Sheet, a_file, filled, natural, read_bytes, the_file
from litcascade.corpora.sets.texts_given import documents_in, note_unread
from litcascade.schemas import Document

_AT = "https://raw.githubusercontent.com/jayded/evidence-inference/master/annotations"
_SPLITS = tuple(f"{name}_article_ids.txt" for name in ("train", "validation", "test"))
CARD = Card(
    name="evidence_inference",
    title="Evidence Inference: findings of randomised trials with supporting passages",
    source="https://github.com/jayded/evidence-inference",
    licence="annotations and code MIT; full texts have the licences of their journals",
    labels={
        "extraction": "one item a prompt (outcome, intervention, comparator): `significantly increased`, `significantly "
        "decreased` or `no significant difference`, by each annotator, with the passage",
    },
    files=(
        CardFile("prompts_merged.csv", None, f"{_AT}/prompts_merged.csv"),
        CardFile("annotations_merged.csv", None, f"{_AT}/annotations_merged.csv"),
        *(CardFile(f"splits/{name}", None, f"{_AT}/splits/{name}") for name in _SPLITS),
    ),
    notes=(
        "Record ids are PMC identifiers; items are `prompt:` and the PromptID.",
        "`finding` without annotator is the label on which all accepted annotators of a prompt agree; where they do not "
        "agree there is none, and the note says so. Each annotator's own label stands beside it.",
        "Only annotations whose label the verifier accepted (Valid Label) count; a passage counts where Valid Reasoning is true.",
        "The source lists prompts that are wrong (its annotations/README); they are loaded as released.",
        "Texts: txt_files/PMC….txt, else xml_files/PMC….nxml.",
    ),
)
LABELS = ("significantly increased", "significantly decreased", "no significant difference")
_PROMPT = ("PromptID", "PMCID", "Outcome", "Intervention", "Comparator")
_NOTE = ("UserID", "PromptID", "PMCID", "Valid Label", "Valid Reasoning", "Label", "Annotations")
_YES = {"1": True, "true": True, "1.0": True, "0": False, "false": False, "0.0": False}


def parts(folder: Path) -> list[str]:
    """One collection."""
    return ["evidence_inference"] if a_file(folder, "prompts_merged.csv") else []


def load(folder: Path, _part: str | None, _texts: Path | None) -> Corpus:
    """Load articles with their texts, prompts and annotations as gold fields, and the released splits."""
    draft = Draft(CARD, folder)
    prompts = draft.sheet(the_file(folder, "prompts_merged.csv"), need=_PROMPT)
    told = draft.sheet(the_file(folder, "annotations_merged.csv"), need=_NOTE)
    article_of = _read_prompts(draft, prompts)
    articles = natural(set(article_of.values()))
    texts = documents_in({name: path for name in articles if (path := _text_of(folder, name))})
    draft.documents += texts.values()
    for position, name in enumerate(articles, start=1):
        _add_article(draft, name, position, texts.get(name))
    _read_annotations(draft, told, article_of)
    _read_splits(draft, folder / "splits")
    note_unread(draft, texts.values(), [name for name in articles if name not in texts])
    draft.review("evidence_inference", None)
    return draft.finish()


def _text_of(folder: Path, article: str) -> Path | None:
    return a_file(folder / "txt_files", f"{article}.txt") or a_file(folder / "xml_files", f"{article}.nxml")


def _add_article(draft: Draft, name: str, position: int, text: Document | None) -> None:
    told = {"title": text.title, "abstract": text.abstract, "doi": text.doi} if text else {}
    draft.records[name] = build(name, {**told, "pmcid": name}, [], position, {"pmcid": name})
    draft.review_of[name] = "evidence_inference"


def _article(row: Row) -> str | None:
    found = re.fullmatch(r"\s*(?:PMC)?0*([1-9]\d*)(?:\.0)?\s*", row["PMCID"], re.IGNORECASE)
    return f"PMC{found.group(1)}" if found else None


def _read_prompts(draft: Draft, sheet: Sheet) -> dict[str, str]:
    """Prompt to article."""
    article_of: dict[str, str] = {}
    for number, row in sheet.rows:
        prompt, article = row["PromptID"].strip(), _article(row)
        if not prompt or article is None or prompt in article_of:
            reason = f"its PromptID '{prompt}' is used before" if prompt in article_of else "has no PromptID or no PMCID"
            draft.aside(sheet, number, reason)
            continue
        draft.used(sheet)
        article_of[prompt] = article
        for column in _PROMPT[2:]:
            draft.fields.append(GoldField(article, column.casefold(), filled(row[column]), item=f"prompt:{prompt}"))
    return article_of


def _read_annotations(draft: Draft, sheet: Sheet, article_of: dict[str, str]) -> None:
    labels: dict[str, dict[str, None]] = {}
    odd: list[str] = []
    why: Counter[str] = Counter()
    for number, row in sheet.rows:
        prompt = row["PromptID"].strip()
        fault = _fault(row, article_of)
        if fault:
            draft.aside(sheet, number, fault)
            continue
        draft.used(sheet)
        label = row["Label"].strip().casefold()
        accepted = _YES.get(row["Valid Label"].strip().casefold())
        if label not in LABELS:
            (odd if label not in ("invalid prompt", "") else []).append(f"'{label[:30]}' for prompt {prompt}")
            why["without a finding (invalid prompt, blank or unknown)"] += 1
        elif not accepted:
            why["whose label the verifier did not accept"] += 1
        else:
            labels.setdefault(prompt, {})[label] = None
            draft.fields.append(_finding(article_of[prompt], prompt, label, row))
    if odd:
        draft.notes.append(f"{len(odd)} label(s) are none of the known forms and were left out: {examples(odd)}")
    for words, count in why.items():
        draft.notes.append(f"{count} annotation(s) {words} gave no gold value")
    _agree(draft, labels, article_of)


def _fault(row: Row, article_of: dict[str, str]) -> str | None:
    prompt = row["PromptID"].strip()
    if prompt not in article_of:
        return f"its PromptID '{prompt}' is in no prompt"
    return None if _article(row) == article_of[prompt] else f"its PMCID '{row['PMCID']}' is not that of prompt {prompt}"


def _finding(article: str, prompt: str, label: str, row: Row) -> GoldField:
    sound = _YES.get(row["Valid Reasoning"].strip().casefold())
    quote = filled(row["Annotations"]) if sound else None
    return GoldField(article, "finding", label, f"prompt:{prompt}", quote, annotator=row["UserID"].strip() or "?")


def _agree(draft: Draft, labels: dict[str, dict[str, None]], article_of: dict[str, str]) -> None:
    """One finding a prompt where all accepted labels are the same."""
    quotes = {field.item: field.quote for field in draft.fields if field.field == "finding" and field.quote}
    apart = [prompt for prompt, found in labels.items() if len(found) > 1]
    for prompt, found in labels.items():
        if len(found) == 1:
            item = f"prompt:{prompt}"
            draft.fields.append(GoldField(article_of[prompt], "finding", next(iter(found)), item, quotes.get(item)))
    if apart:
        draft.notes.append(f"annotators of {len(apart)} prompt(s) disagree; these have no common finding: {examples(apart)}")
    bare = [prompt for prompt in article_of if prompt not in labels]
    if bare:
        draft.notes.append(f"{len(bare)} prompt(s) have no accepted annotation: {examples(bare)}")


def _read_splits(draft: Draft, folder: Path) -> None:
    """Splits as `all:train` (both versions), `ev1:train`, `ev2:train`, …; those before the colon are not meant to be apart."""
    found: dict[str, None] = {}
    for path in sorted(folder.glob("*_article_ids.txt")):
        listed = [f"PMC{digits}" for digits in re.findall(r"\d+", read_bytes(path).decode("utf-8", "replace"))]
        version, _, part = path.name.removesuffix("_article_ids.txt").rpartition("_")
        for article in listed:
            if article in draft.records:
                draft.into_split(f"{version or 'all'}:{part}", article)
        found |= dict.fromkeys(article for article in listed if article not in draft.records)
    strangers = list(found)
    if strangers:
        draft.notes.append(f"{len(strangers)} article(s) of the splits have no prompt: {examples(strangers)}")


SETS.register("evidence_inference")(BenchmarkSet(CARD, parts, load))
