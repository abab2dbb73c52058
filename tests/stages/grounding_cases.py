"""Invented sentences of trials, made from templates, with what each of their numbers belongs to; and ways to spoil them."""

import random
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from litcascade.stages.grounding import Arm, Claim

PAIRS = (
    ("zinc", "placebo"),
    ("honey", "usual care"),
    ("metformin", "sitagliptin"),
    ("yoga", "education"),
    ("high-dose vitamin D", "low-dose vitamin D"),
    ("nurse-led care", "standard care"),
    ("Amoxifen 20 mg", "Amoxifen 40 mg"),
)
TIMES = ("4 weeks", "12 weeks", "6 months", "day 28", "2 years")

# Arms are {A} and {B}; a slot ending in 1 belongs to A, in 2 to B; {t} is the one time point.
TWO_ARMS = (
    "Of {n1} patients randomised to {A}, {e1} ({p1}%) recovered by {t}, compared with {e2} of {n2} ({p2}%) given {B}.",
    "{e1} of {n1} participants in the {A} group and {e2} of {n2} in the {B} group had relapsed at {t}.",
    "Mean pain was {m1} (SD {s1}) with {A} and {m2} (SD {s2}) with {B} at {t}.",
    "In the {A} and {B} groups, {e1} and {e2} patients, respectively, had withdrawn at {t}.",
    "At {t}, {e1}/{n1} ({p1}%) on {A} versus {e2}/{n2} ({p2}%) on {B} had a cough.",
    "The {A} arm lost {m1} kg, whereas the {B} arm lost {m2} kg by {t}.",
    "Adverse events occurred in {p1}% of the {A} arm ({e1}/{n1}) and in {p2}% of the {B} arm ({e2}/{n2}) at {t}.",
    "Sleep scores were {m1} ± {s1} for {A} and {m2} ± {s2} for {B} at {t} (difference {d}, 95% CI {lo} to {hi}; p = 0.{p}).",
    "Death at {t} was recorded for {e1} patients given {A}; {e2} patients given {B} died.",
    "{A} (n = {n1}) and {B} (n = {n2}) had {e1} and {e2} failures, respectively, at {t}.",
)
TWO_TIMES = (
    "With zinc, pain was {m1} at {t1} and {m2} at {t2}.",
    "Scores at {t1} and {t2} were {m1} and {m2}, respectively.",
    "Weight fell from {m1} kg at {t1} to {m2} kg at {t2}.",
)
DIRECTIONS = (
    ("Pain was significantly {way} with {A} than with {B} at {t}.", ("lower", "higher")),
    ("The {A} group had a {way} stay in hospital than the {B} group.", ("shorter", "longer")),
    ("Compared with {B}, {A} led to {way} relapses.", ("fewer", "more")),
    ("Blood loss was {way} in the {A} arm compared with the {B} arm.", ("smaller", "greater")),
)
LABELS = (
    ("The trial was {not}randomised at {k} centres.", "randomised"),
    ("Allocation was {not}concealed from the {k} investigators.", "concealed"),
    ("Outcome assessors at {k} sites were {not}blinded.", "blinded"),
    ("The analysis of {k} records was {not}prespecified.", "prespecified"),
)


class Sentence(NamedTuple):
    """A sentence, its values as (text, arm, time), and its arms; further numbers of it belong to no arm."""

    text: str
    values: tuple[tuple[str, str | None, str | None], ...]
    arms: tuple[str, ...]


def two_arm_sentence(rng: random.Random) -> Sentence:
    """One sentence with two arms and one time point; all its numbers differ."""
    template, (a, b), time = rng.choice(TWO_ARMS), rng.choice(PAIRS), rng.choice(TIMES)
    slots = distinct(rng)
    text = template.format(A=a, B=b, t=time, **slots)
    values = tuple(
        (slots[name], a if name.endswith("1") else b, time) for name in re.findall(r"\{([a-z]+[12])\}", template) if name in slots
    )
    return Sentence(text[0].upper() + text[1:], values, (a, b))


def two_time_sentence(rng: random.Random) -> Sentence:
    """One sentence with one arm or none and two time points."""
    template = rng.choice(TWO_TIMES)
    first, second = rng.sample(TIMES[:3], 2)
    slots = distinct(rng)
    text = template.format(t1=first, t2=second, **slots)
    return Sentence(text, ((slots["m1"], None, first), (slots["m2"], None, second)), ())


def distinct(rng: random.Random) -> dict[str, str]:
    """Numbers for the slots, no two alike and none that a time point or an arm's name holds."""
    whole = [str(number) for number in rng.sample([n for n in range(30, 990) if n not in (40, 95)], 12)]
    parts = [f"{number // 10}.{number % 10}" for number in rng.sample([n for n in range(31, 290) if n % 10], 7)]
    return {
        "n1": whole[0], "n2": whole[1], "e1": whole[2], "e2": whole[3], "p1": parts[0], "p2": parts[1], "m1": parts[2],
        "m2": parts[3], "s1": parts[4], "s2": parts[5], "d": parts[6], "lo": f"0.{whole[4]}", "hi": f"1.{whole[5]}",
        "p": whole[6], "k": whole[7],
    }  # fmt: skip


def claim_of(sentence: Sentence, value: str, arm: str | None, time: str | None, quote: str | None = None) -> Claim:
    """A claim of a number with all that is known of the paper."""
    return Claim(
        field="outcome",
        quote=quote or sentence.text,
        value=float(value),
        arms=tuple(Arm(name=name) for name in sentence.arms),
        arm=arm,
        times=TIMES,
        time=time,
    )


def paper(sentence: str, rng: random.Random) -> str:
    """A text with the sentence among others of the same kind."""
    others = [two_arm_sentence(rng).text for _ in range(6)]
    others.insert(rng.randrange(7), sentence)
    return "Results\n" + "\n".join(others)


def altered(rng: random.Random) -> tuple[str, Claim]:
    """(text, claim): the quote differs from the text in a digit, its arms, its direction, or a negation."""
    kind = rng.choice(("digit", "arms", "direction", "negation"))
    if kind == "direction":
        template, ways = rng.choice(DIRECTIONS)
        a, b = rng.choice(PAIRS)
        way, other = rng.sample(ways, 2)
        text, quote = (template.format(way=one, A=a, B=b, t="12 weeks") for one in (way, other))
        return paper(text, rng), Claim(field="effect", quote=quote, value=other, kind="open")
    if kind == "negation":
        template, label = rng.choice(LABELS)
        centres = distinct(rng)["k"]
        words = rng.sample(("not ", ""), 2)
        text, quote = (template.format(**{"not": word, "k": centres}) for word in words)
        return paper(text, rng), Claim(field="method", quote=quote, value=label, kind="closed")
    sentence = two_arm_sentence(rng)
    value, arm, time = rng.choice(sentence.values)
    if kind == "arms":
        a, b = sentence.arms
        swapped = re.sub(rf"{re.escape(a)}|{re.escape(b)}", lambda m: b if m[0] == a else a, sentence.text, flags=re.IGNORECASE)
        return paper(sentence.text, rng), claim_of(sentence, value, arm, time, swapped)
    wrong = other_digit(value, rng)
    quote = re.sub(rf"(?<![\d.]){re.escape(value)}(?![\d])", wrong, sentence.text)
    return paper(sentence.text, rng), claim_of(sentence, wrong, arm, time, quote)


def wrongly_attached(rng: random.Random) -> tuple[str, Claim]:
    """(text, claim): the quote is verbatim; the value stands not in it, or belongs to the other arm or time point."""
    kind = rng.choice(("value", "arm", "time", "direction", "negation", "unit"))
    if kind == "time":
        sentence = two_time_sentence(rng)
        (first, _, one), (second, _, other) = sentence.values
        value, time = rng.choice(((first, other), (second, one)))
        return paper(sentence.text, rng), claim_of(sentence, value, None, time)
    if kind == "direction":
        template, ways = rng.choice(DIRECTIONS)
        a, b = rng.choice(PAIRS)
        way = rng.choice(ways)
        text = template.format(way=way, A=a, B=b, t="12 weeks")
        arms = (Arm(name=a), Arm(name=b))
        lower = way == ways[0]
        claims = (
            Claim(field="effect", quote=text, value=way, kind="open", arms=arms, arm=a, direction="higher" if lower else "lower"),
            Claim(field="effect", quote=text, value=way, kind="open", arms=arms, arm=b, direction="lower" if lower else "higher"),
            Claim(field="effect", quote=text, value=way, kind="open", arms=arms, arm=a, direction="no difference"),
        )
        return paper(text, rng), rng.choice(claims)
    if kind == "negation":
        template, label = rng.choice(LABELS)
        word = rng.choice(("not ", ""))
        text = template.format(**{"not": word, "k": distinct(rng)["k"]})
        return paper(text, rng), Claim(field="method", quote=text, value=label if word else f"not {label}", kind="closed")
    sentence = two_arm_sentence(rng)
    value, arm, time = rng.choice(sentence.values)
    if kind == "unit" and re.search(rf"{re.escape(value)}(?:%| kg)", sentence.text):
        return paper(sentence.text, rng), claim_of(sentence, value, arm, time).model_copy(update={"unit": "mmHg"})
    if kind == "arm":
        a, b = sentence.arms
        return paper(sentence.text, rng), claim_of(sentence, value, b if arm == a else a, time)
    known = set(re.findall(r"\d+(?:\.\d+)?", sentence.text))
    wrong = next(one for one in (other_digit(value, rng) for _ in range(99)) if one not in known)
    return paper(sentence.text, rng), claim_of(sentence, wrong, arm, time)


def genuine(rng: random.Random) -> tuple[str, Claim]:
    """(text, claim): right value, arm and time point; the text or the quote typeset otherwise."""
    sentence = two_arm_sentence(rng) if rng.random() < 0.75 else two_time_sentence(rng)
    value, arm, time = rng.choice(sentence.values)
    text, quote = paper(sentence.text, rng), sentence.text
    if rng.random() < 0.5:
        quote = typeset(quote, rng)
    else:
        text = text.replace(sentence.text, typeset(sentence.text, rng))
    return text, claim_of(sentence, value, arm, time, quote)


def typeset(text: str, rng: random.Random) -> str:
    """The text as a PDF, an XML file or a word processor would have it: up to four of these changes."""
    changes: list[Callable[[str], str]] = [
        lambda s: re.sub(" ", lambda _: rng.choice((" ", " ", "\n", "  ")), s),
        lambda s: re.sub(r"\b([a-z]{3,5})([a-z]{3,})\b", lambda m: f"{m[1]}-\n{m[2]}" if rng.random() < 0.3 else m[0], s),
        lambda s: re.sub(r"\b([a-z]{3})([a-z]{3,})\b", lambda m: f"{m[1]}\u00ad{m[2]}" if rng.random() < 0.3 else m[0], s),
        lambda s: s.replace("fi", "ﬁ").replace("fl", "ﬂ").replace("ffi", "ﬃ"),
        lambda s: s.replace("±", "&#177;").replace(" = ", "&#x2009;=&#x2009;").replace("%", "&#37;"),
        lambda s: s.replace("-", rng.choice("‐‑–")),
        lambda s: s.replace(" ", "\u00a0", 4),
        lambda s: f"“{s}”",
        lambda s: re.sub(r"(?<=\d)\.(?=\d)", "·", s),
        str.upper,
    ]
    for change in rng.sample(changes, rng.randint(1, 4)):
        text = change(text)
    return text


def other_digit(numeral: str, rng: random.Random) -> str:
    """The numeral with one digit changed, the first never to 0."""
    place = rng.choice([i for i, c in enumerate(numeral) if c.isdigit()])
    digit = rng.choice([d for d in "123456789" if d != numeral[place]])
    return numeral[:place] + digit + numeral[place + 1 :]


def many(make: Callable[[random.Random], tuple[str, Claim]], count: int, seed: int) -> Iterator[tuple[str, Claim]]:
    """That many cases, each text and quote once."""
    rng = random.Random(seed)
    seen: set[tuple[str, str]] = set()
    while len(seen) < count:
        text, claim = make(rng)
        if (text, claim.quote) not in seen:
            seen.add((text, claim.quote))
            yield text, claim
