"""How criteria combine: an expression of criterion ids with and, or, not and parentheses, in three values. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from litcascade.registry import nearest

Truth = Literal["yes", "no", "unclear"]
_TOKEN = re.compile(r"\s*(?:([()])|([A-Za-z][A-Za-z0-9_-]*))")
_NOT: dict[Truth, Truth] = {"yes": "no", "no": "yes", "unclear": "unclear"}
Tree = str | tuple[str, "Tree"] | tuple[str, "Tree", "Tree"]


def parse_logic(text: str, known: Sequence[str]) -> Tree:
    """The expression as a tree; a fault is a `ValueError` in words. `not` binds before `and`, `and` before `or`."""
    tokens: list[str] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if not match:
            raise ValueError(f"the logic cannot be read from '{text[at:].strip()[:20]}' on; use ids, and, or, not, parentheses")
        tokens.append(match.group(1) or match.group(2))
        at = match.end()
    tree, rest = _or(tokens, known)
    if rest:
        raise ValueError(f"the logic has '{rest[0]}' where it should end or go on with and/or")
    return tree


def _or(tokens: list[str], known: Sequence[str]) -> tuple[Tree, list[str]]:
    tree, rest = _and(tokens, known)
    while rest and rest[0].casefold() == "or":
        other, rest = _and(rest[1:], known)
        tree = ("or", tree, other)
    return tree, rest


def _and(tokens: list[str], known: Sequence[str]) -> tuple[Tree, list[str]]:
    tree, rest = _one(tokens, known)
    while rest and rest[0].casefold() == "and":
        other, rest = _one(rest[1:], known)
        tree = ("and", tree, other)
    return tree, rest


def _one(tokens: list[str], known: Sequence[str]) -> tuple[Tree, list[str]]:
    if not tokens:
        raise ValueError("the logic ends where a criterion should stand")
    head, rest = tokens[0], tokens[1:]
    if head.casefold() == "not":
        tree, rest = _one(rest, known)
        return ("not", tree), rest
    if head == "(":
        tree, rest = _or(rest, known)
        if not rest or rest[0] != ")":
            raise ValueError("a parenthesis of the logic is not closed")
        return tree, rest[1:]
    if head not in known:
        raise ValueError(f"the logic names '{head}', which is no criterion of this stage{nearest(head, known)}")
    return head, rest


def ids_of(tree: Tree) -> set[str]:
    """The criteria that an expression names."""
    if isinstance(tree, str):
        return {tree}
    return {name for part in tree[1:] for name in ids_of(part)}


def evaluate(tree: Tree, answers: Mapping[str, Truth]) -> Truth:
    """The value of an expression in Kleene's three-valued logic; a criterion without an answer is unclear."""
    if isinstance(tree, str):
        return answers.get(tree, "unclear")
    if tree[0] == "not":
        return _NOT[evaluate(tree[1], answers)]
    both = {evaluate(tree[1], answers), evaluate(tree[2], answers)}  # type: ignore[misc]  # and, or have two parts
    strong: Truth = "no" if tree[0] == "and" else "yes"
    if strong in both:
        return strong
    return "unclear" if "unclear" in both else _NOT[strong]
