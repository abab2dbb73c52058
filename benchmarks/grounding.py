"""How the check of quotes does on real sentences, beside a fuzzy score: altered quotes, wrong values, typesetting, arms.

    python benchmarks/grounding.py [--corpora ../shared/corpora] [--sentences 2000] [--seed 1] [--show 0]

Sentences with numbers are taken from the JATS files of `full_text` and `rct_numeric` at run time and altered here; nothing of
them is kept. The fuzzy check passes a quote where rapidfuzz's `partial_ratio` over the whole text is 90 or more.
"""

import argparse
import csv
import gzip
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree
from rapidfuzz import fuzz

from litcascade.stages.grounding import Arm, Claim, Status, TextIndex, fold, verify

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
NUMERAL = re.compile(
    r"(?<![\w.,^/·-])(?<![–−<>\[])(?<!able )(?<!ables )(?<!igure )(?<!igures )(?<!ig )(?<!ig\. )(?<!igs\. )"
    r"\d+(?:\.\d+)?(?![\w^])(?!\.?\d)(?![.,·/–−-]\d)(?! ?×)(?![^\[]*\])"
)
RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SPELT = {word: number for number, word in enumerate((*ONES, *TEENS.split(" ")), 1)}
SPELT |= {ten: 10 * place for place, ten in enumerate(TENS.split(" "), 2)}
SPELT |= {f"{ten}-{one}": SPELT[ten] + SPELT[one] for ten in TENS.split(" ") for one in ONES}
OPPOSITES = (
    ("higher", "lower"), ("increased", "decreased"), ("more", "fewer"), ("greater", "smaller"), ("increase", "decrease"),
    ("improved", "worsened"), ("longer", "shorter"), ("better", "worse"), ("above", "below"), ("before", "after"),
)  # fmt: skip


@dataclass
class Paper:
    """One text, its index, its sentences that hold numbers, and the names of the two arms where they are annotated."""

    name: str
    index: TextIndex
    sentences: list[str]
    arms: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Tally:
    """How many passed of how many, for us and for the fuzzy score."""

    tried: int = 0
    ours: int = 0
    fuzzy: int = 0
    statuses: Counter[str] = field(default_factory=Counter)

    def row(self, name: str) -> str:
        """A line of the table."""
        ours, fuzzy = (f"{passed} ({100 * passed / max(1, self.tried):.1f} %)" for passed in (self.ours, self.fuzzy))
        return f"| {name} | {self.tried} | {ours} | {fuzzy} |"


def read(path: Path) -> str:
    """The text of a JATS file: a paragraph a line, a table's rows with ` | ` between cells."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    root = etree.fromstring(raw, etree.XMLParser(resolve_entities=False, no_network=True, recover=True))
    for sup in root.iter("{*}sup"):
        if sup.text:
            sup.text = sup.text.translate(RAISED)
    blocks = []
    for node in root.iter("{*}p", "{*}title", "{*}table-wrap"):
        if etree.QName(node).localname == "table-wrap":
            caption = (
                " ".join(words(part) for part in node.iterfind("{*}label"))
                + " "
                + " ".join(words(p) for p in node.iterfind("{*}caption"))
            )
            blocks.append("\n".join([caption.strip(), *(" | ".join(row) for row in grid(node))]))
        else:
            blocks.append(words(node))
    return "\n\n".join(block for block in blocks if block.strip())


def grid(table: etree._Element) -> list[list[str]]:
    """The rows of a table, spanning cells repeated in every place they span."""
    rows: list[list[str]] = []
    below: dict[tuple[int, int], str] = {}
    for number, row in enumerate(table.iter("{*}tr")):
        cells: list[str] = []
        for cell in row.iterfind("*"):
            while (number, len(cells)) in below:
                cells.append(below[number, len(cells)])
            across, down = (int(cell.get(name) or 1) for name in ("colspan", "rowspan"))
            for _ in range(min(across, 60)):
                below |= {(number + step, len(cells)): words(cell) for step in range(1, min(down, 60))}
                cells.append(words(cell))
        while (number, len(cells)) in below:
            cells.append(below[number, len(cells)])
        rows.append(cells)
    return rows


def words(node: etree._Element) -> str:
    """All text of an element, blanks folded."""
    return " ".join("".join(str(part) for part in node.itertext()).split())


def papers(corpora: Path, limit: int | None = None) -> list[Paper]:
    """The papers of both folders in the order of their names, the first `limit` of them where it is given."""
    arms: dict[str, list[tuple[str, str]]] = {}
    for row in annotations(corpora):
        arms.setdefault(f"PMC{row['pmcid']}", []).append((row["intervention"], row["comparator"]))
    found = []
    paths = [*(corpora / "full_text" / "jats").glob("*xml"), *(corpora / "rct_numeric" / "full_text_jats").glob("*.gz")]
    for path in sorted(paths, key=lambda one: one.name)[:limit]:
        text = read(path)
        index = TextIndex(text)
        name = path.name.split(".")[0]
        found.append(Paper(name, index, sentences(index), sorted(set(arms.get(name, [])))))
    return found


def annotations(corpora: Path) -> list[dict[str, str]]:
    """The annotated outcomes."""
    with (corpora / "rct_numeric" / "annotations.csv").open(encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def sentences(index: TextIndex) -> list[str]:
    """Sentences of prose with a number, 40 to 300 characters."""
    cut = re.split(r"\n|(?<=[.!?])\s+(?=[A-Z])", index.text)
    return [part for part in cut if 40 <= len(part) <= 300 and " | " not in part and NUMERAL.search(part)]


def altered(sentence: str, paper: Paper, rng: random.Random) -> Iterator[tuple[str, str]]:
    """(kind, sentence with one thing changed) for every kind that fits."""
    numerals = list(NUMERAL.finditer(sentence))
    one = rng.choice(numerals)
    yield "a digit changed", sentence[: one.start()] + other_number(one[0], rng) + sentence[one.end() :]
    if len(numerals) > 1:
        first, second = sorted(rng.sample(numerals, 2), key=lambda match: match.start())
        if first[0] != second[0]:
            between = sentence[first.end() : second.start()]
            yield "two numbers swapped", sentence[: first.start()] + second[0] + between + first[0] + sentence[second.end() :]
    if re.search(r"\bnot? ", sentence):
        yield "negation left out", re.sub(r"\bnot? ", "", sentence, count=1)
    verb = re.search(r"\b(?:was|were|is|are|did|had)\b(?! not)", sentence)
    if verb:
        yield "negation put in", f"{sentence[: verb.end()]} not{sentence[verb.end() :]}"
    for kind, pairs in (("direction turned", OPPOSITES), ("arm exchanged", paper.arms)):
        for pair in pairs:
            for here, there in (pair, pair[::-1]):
                exchanged = exchange(sentence, here, there)
                if exchanged != sentence:
                    yield kind, exchanged


def exchange(sentence: str, here: str, there: str) -> str:
    """The sentence with every `here` written `there`."""
    return there.join(re.split(rf"(?<!\w){re.escape(here)}(?!\w)", sentence, flags=re.IGNORECASE))


def other_number(numeral: str, rng: random.Random) -> str:
    """The numeral with one digit changed."""
    places = [i for i, c in enumerate(numeral) if c.isdigit()]
    place = rng.choice(places)
    low = 1 if place == 0 and len(numeral) > 1 else 0
    digit = rng.choice([d for d in range(low, 10) if str(d) != numeral[place]])
    return f"{numeral[:place]}{digit}{numeral[place + 1 :]}"


def typeset(sentence: str, rng: random.Random) -> str:
    """The sentence as a PDF, an XML file or a word processor would have it."""
    changes: list[Callable[[str], str]] = [
        lambda s: "\n".join(s.split(" ", 3)),
        lambda s: re.sub(r"\b([a-z]{4})([a-z]{4,})\b", "\\1-\n\\2", s, count=2),
        lambda s: re.sub(r"\b([a-z]{4})([a-z]{4,})\b", "\\1\u00ad\\2", s, count=3),
        lambda s: s.replace("fi", "ﬁ").replace("fl", "ﬂ"),
        lambda s: s.replace("<", "&lt;").replace(">", "&gt;").replace("±", "&#177;").replace(" = ", "&#x2009;=&#x2009;"),
        lambda s: s.replace("'", "’").replace('"', "”"),
        lambda s: s.replace("-", "–").replace("−", "-"),
        lambda s: s.replace(" ", "\u00a0", 5),
        lambda s: s.upper() if s.upper().lower() == s.lower() else s,
        lambda s: re.sub(r" ?([<>=]) ?", r" \1 ", s),
    ]
    for change in rng.sample(changes, 3):
        sentence = change(sentence)
    return sentence


def fuzzily(quote: str, paper: Paper) -> bool:
    """What a fuzzy score says."""
    return fuzz.partial_ratio(quote.casefold(), paper.index.text.casefold(), score_cutoff=90) >= 90


def first_test(chosen: Sequence[tuple[Paper, str]], rng: random.Random, show: int) -> dict[str, Tally]:
    """Altered quotes: found, or not."""
    tallies: dict[str, Tally] = {}
    for paper, sentence in chosen:
        for kind, quote in altered(sentence, paper, rng):
            if fold(quote).text.strip() in paper.index.folded:
                continue
            tally = tallies.setdefault(kind, Tally())
            tally.tried += 1
            found = bool(paper.index.find(quote))
            tally.ours += found
            tally.fuzzy += fuzzily(quote, paper)
            if found and show:
                print("ALTERED AND FOUND", kind, repr(quote))
    return tallies


def second_test(chosen: Sequence[tuple[Paper, str]], rng: random.Random, show: int) -> dict[str, Tally]:
    """Verbatim quotes with a value that does not stand in them, or a time point that they do not name."""
    tallies = {"value not in the quote": Tally(), "another time point": Tally()}
    for paper, sentence in chosen:
        one = rng.choice(list(NUMERAL.finditer(sentence)))
        wrong = other_number(one[0], rng)
        values = {float(match[0]) for match in re.finditer(r"\d+(?:\.\d+)?", sentence)}
        values |= {float(number) for word, number in SPELT.items() if re.search(rf"\b{word}\b", sentence, re.IGNORECASE)}
        cases = []
        if float(wrong) not in values:
            cases.append(("value not in the quote", Claim(field="x", quote=sentence, value=float(wrong))))
        cases.append(("another time point", Claim(field="x", quote=sentence, value=float(one[0]), time="977 days")))
        for kind, claim in cases:
            support = verify(claim, paper.index)
            tally = tallies[kind]
            tally.tried += 1
            tally.ours += support.supported
            tally.fuzzy += fuzzily(sentence, paper)
            tally.statuses[support.status] += 1
            if support.supported and show:
                print("WRONG AND SUPPORTED", kind, claim.value, repr(sentence))
    return tallies


def third_test(chosen: Sequence[tuple[Paper, str]], rng: random.Random, show: int) -> dict[str, Tally]:
    """Genuine quotes with a number that stands in them, the quote typeset otherwise than the text."""
    tallies = {"quote as in the text": Tally(), "quote typeset otherwise": Tally()}
    for paper, sentence in chosen:
        one = rng.choice(list(NUMERAL.finditer(sentence)))
        for kind, quote in (("quote as in the text", sentence), ("quote typeset otherwise", typeset(sentence, rng))):
            support = verify(Claim(field="time or value", quote=quote, value=float(one[0])), paper.index)
            tally = tallies[kind]
            tally.tried += 1
            tally.ours += support.supported
            tally.fuzzy += fuzzily(quote, paper)
            tally.statuses[support.status] += 1
            if not support.supported and show:
                print("GENUINE AND NOT SUPPORTED", support.status, support.words, one[0], repr(quote))
    return tallies


INTERVENTION = ("intervention group", "treatment group", "experimental group", "intervention")
CONTROL = ("control group", "controls", "control")
VALUES = (
    ("intervention_events", "comparator_events"), ("intervention_group_size", "comparator_group_size"),
    ("intervention_mean", "comparator_mean"), ("intervention_standard_deviation", "comparator_standard_deviation"),
)  # fmt: skip


def fourth_test(corpora: Path, known: dict[str, Paper], show: int) -> dict[str, Tally]:
    """Annotated values of two arms that stand in one sentence or row: for their own arm, and for the other's."""
    tallies = {"value for its own arm": Tally(), "value for the other arm": Tally()}
    seen = set()
    for row in annotations(corpora):
        paper = known.get(f"PMC{row['pmcid']}")
        names = row["intervention"], row["comparator"]
        for own, other in VALUES if paper else ():
            pair = row[own].strip(), row[other].strip()
            if not all(re.fullmatch(r"-?\d+(?:\.\d+)?", value) for value in pair) or float(pair[0]) == float(pair[1]):
                continue
            assert paper is not None
            if any(len(value.strip("-0").replace(".", "")) < 2 for value in pair):
                continue
            for quote in quotes_with(paper, pair):
                if (quote, pair, names) in seen:
                    continue
                seen.add((quote, pair, names))
                for value, name, wrong in ((pair[0], *names), (pair[1], *names[::-1])):
                    for kind, arm in (("value for its own arm", name), ("value for the other arm", wrong)):
                        known_arms = arms_of(paper)
                        support = verify(
                            Claim(field="value", quote=quote, value=float(value), arms=known_arms, arm=arm), paper.index
                        )
                        tally = tallies[kind]
                        tally.tried += 1
                        tally.ours += support.supported
                        tally.fuzzy += fuzzily(quote, paper)
                        tally.statuses[support.status] += 1
                        if show and (support.supported == (arm == wrong)):
                            print("ARM", kind, support.status, value, arm, names, support.words, repr(quote))
    return tallies


def arms_of(paper: Paper) -> tuple[Arm, ...]:
    """All annotated arms of a paper; where there are two, also by what papers call them."""
    if len(paper.arms) == 1:
        (first, second) = paper.arms[0]
        return Arm(name=first, aliases=INTERVENTION), Arm(name=second, aliases=CONTROL)
    return tuple(Arm(name=one) for one in dict.fromkeys(name for both in paper.arms for name in both))


def quotes_with(paper: Paper, pair: tuple[str, str]) -> list[str]:
    """The sentences and rows in which both numbers stand."""
    cut = re.split(r"\n|(?<=[.!?])\s+(?=[A-Z])", paper.index.text)
    return [
        part for part in dict.fromkeys(cut)
        if len(part) < 600 and all(re.search(rf"(?<![\w.,]){re.escape(value)}(?![\w]|\.\d)", part) for value in pair)
    ]  # fmt: skip


def speed(chosen: Sequence[tuple[Paper, str]]) -> str:
    """How long an index and a look-up take on the longest text."""
    paper = max((paper for paper, _ in chosen), key=lambda one: len(one.index.text))
    text = (paper.index.text * (1 + 100_000 // len(paper.index.text)))[:100_000]
    begin = time.process_time()
    index = TextIndex(text)
    built = time.process_time() - begin
    quotes = [sentence for one, sentence in chosen if one is paper] or [chosen[0][1]]
    begin = time.process_time()
    for _ in range(20):
        for quote in quotes:
            index.find(quote)
    each = (time.process_time() - begin) / (20 * len(quotes))
    begin = time.process_time()
    for quote in quotes:
        verify(Claim(field="x", quote=quote, value=1.0), index)
    verified = (time.process_time() - begin) / len(quotes)
    return (
        f"100,000 characters: index {1000 * built:.0f} ms, look-up {1000 * each:.2f} ms, verify {1000 * verified:.1f} ms a claim"
    )


def main() -> None:
    """Run the four tests and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    found = papers(options.corpora)
    everything = [(paper, sentence) for paper in found for sentence in paper.sentences]
    chosen = rng.sample(everything, min(options.sentences, len(everything)))
    print(f"{len(found)} papers, {len(everything)} sentences with numbers, {len(chosen)} drawn (seed {options.seed})\n")
    print("| | tried | passed by grounding | passed by partial_ratio ≥ 90 |\n|---|---|---|---|")
    tests = (
        ("altered", first_test(chosen, rng, options.show)),
        ("wrong", second_test(chosen, rng, options.show)),
        ("genuine", third_test(chosen, rng, options.show)),
        ("annotated", fourth_test(options.corpora, {paper.name: paper for paper in found}, options.show)),
    )
    for name, tallies in tests:
        for kind, tally in sorted(tallies.items()):
            print(tally.row(f"{name}: {kind}"))
    for name, tallies in tests[1:]:
        for kind, tally in tallies.items():
            print(
                f"\n{name}, {kind}: "
                + ", ".join(f"{Status(status).value} {count}" for status, count in tally.statuses.most_common())
            )
    print(f"\n{speed(chosen)}")


if __name__ == "__main__":
    main()
