"""Screening criterion by criterion: each answered with a quote, combined by the protocol's logic. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from litcascade.schemas import Answer, CriterionAnswer, JsonShape, Refer, ReferCode, Reply
from litcascade.schemas.keys import scrubbed
from litcascade.schemas.logic import Tree, Truth, evaluate, parse_logic
from litcascade.schemas.protocol import Criterion
from litcascade.stages.parse import read_object
from litcascade.stages.quote import stands_in

TOKENS_PER_CRITERION = 140
ANSWERS: tuple[Truth, ...] = ("yes", "no", "unclear")


def criteria_shape(criteria: Sequence[Criterion]) -> JsonShape:
    """An object with a quote and yes, no or unclear for every criterion, in their order."""
    one = {
        "type": "object",
        "properties": {"quote": {"type": "string", "maxLength": 300}, "met": {"type": "string", "enum": list(ANSWERS)}},
        "required": ["quote", "met"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {criterion.id: one for criterion in criteria},
        "required": [criterion.id for criterion in criteria],
        "additionalProperties": False,
    }
    return JsonShape(name="criteria", json_schema=schema)


def logic_of(criteria: Sequence[Criterion], text: str | None) -> Tree:
    """The declared logic, or: every inclusion criterion and no exclusion criterion."""
    if text:
        return parse_logic(text, [criterion.id for criterion in criteria])
    tree: Tree | None = None
    for criterion in criteria:
        leaf: Tree = criterion.id if criterion.kind == "include" else ("not", criterion.id)
        tree = leaf if tree is None else ("and", tree, leaf)
    assert tree is not None
    return tree


def read_criteria(criteria: Sequence[Criterion], reply: Reply, folded_text: str) -> tuple[CriterionAnswer, ...] | Refer:
    """Every criterion's answer; a criterion left out or answered in another word makes the reply unreadable."""
    found = read_object(reply)
    if isinstance(found, Refer):
        return found
    answers, faults = [], []
    for criterion in criteria:
        entry = found.get(criterion.id)
        met = str(entry.get("met", "")).strip().casefold() if isinstance(entry, dict) else ""
        if not isinstance(entry, dict) or met not in ANSWERS:
            faults.append(f"{criterion.id}: " + ("missing" if not isinstance(entry, dict) else f"'{met[:20]}' is no answer"))
            continue
        answers.append(_answer(criterion, met, entry, folded_text))
    if faults:
        return Refer(code=ReferCode.UNPARSED, detail="; ".join(faults)[:300])
    return tuple(answers)


def _answer(criterion: Criterion, met: str, entry: Mapping[str, Any], folded_text: str) -> CriterionAnswer:
    quote = scrubbed(entry.get("quote"))
    quote = quote.strip() or None if isinstance(quote, str) else None
    found = None if quote is None else stands_in(quote, folded_text)
    return CriterionAnswer(criterion=criterion.id, met=met, quote=quote, quote_found=found)


def combine(criteria: Sequence[Criterion], windows: Sequence[Sequence[CriterionAnswer]]) -> tuple[CriterionAnswer, ...]:
    """One answer a criterion from all windows: what a window shows with a found quote stands, two that differ are unclear."""
    made = []
    for criterion in criteria:
        mine = [answer for window in windows for answer in window if answer.criterion == criterion.id]
        firm = [answer for answer in mine if answer.met != "unclear" and answer.quote_found]
        loose = [answer for answer in mine if answer.met != "unclear"]
        told = firm or loose
        if not told:
            made.append(mine[0])
        elif len({answer.met for answer in told}) > 1:
            made.append(told[0].model_copy(update={"met": "unclear"}))
        else:
            made.append(told[0])
    return tuple(made)


def decide(criteria: Sequence[Criterion], answers: Sequence[CriterionAnswer], tree: Tree) -> Answer | Refer:
    """Include, or exclude for the first failing criterion in their order, by the logic; what stays open goes to a person.

    An answer against the report counts only with a quote that stands in it: what a model did not find is not shown to be
    absent. So `no` to an inclusion criterion and `yes` to an exclusion criterion without such a quote are unclear.
    """
    kinds = {criterion.id: criterion.kind for criterion in criteria}
    against = {"include": "no", "exclude": "yes"}
    truths: dict[str, Truth] = {}
    for answer in answers:
        counts = answer.met != against[kinds[answer.criterion]] or bool(answer.quote_found)
        truths[answer.criterion] = answer.met if counts else "unclear"
    value = evaluate(tree, truths)
    open_ = [criterion.id for criterion in criteria if truths.get(criterion.id, "unclear") == "unclear"]
    if value == "unclear":
        return Refer(code=ReferCode.UNCLEAR, detail=f"open: {', '.join(open_)}", criteria=tuple(answers))
    if value == "yes":
        return Answer(decision="include", criteria=tuple(answers))
    failing = next((c for c in criteria if truths.get(c.id) == against[c.kind]), None)
    quote = next((answer.quote for answer in answers if failing and answer.criterion == failing.id), None)
    reason = f"{failing.id}: {failing.text.strip()}" if failing else "the protocol's logic"
    words = f'{reason} ("{quote}")' if quote else reason
    return Answer(decision="exclude", reason=words[:600], criterion=failing.id if failing else None, criteria=tuple(answers))
