"""p(include) from the log-probabilities of the answer's first token."""

import math

from litcascade.schemas import Reply


def p_include(reply: Reply, include: str, exclude: str) -> float | None:
    """Return p(include) in [0, 1], renormalised over all spellings of the two labels; None where it cannot be known.

    A token counts for a label where, blanks and case aside, it is the label or an opening part of it that the other
    label does not share. A label outside the engine's top list is not given 0 but the probability of the least
    likely token listed, the most it can have. None: no log-probabilities, neither label listed, or labels that
    begin alike so that the first token cannot tell them apart.
    """
    if not reply.logprobs:
        return None
    top = reply.logprobs[0].top
    mass = {include: 0.0, exclude: 0.0}
    for token, logprob in top:
        label = _label_of(token, include, exclude)
        if label is not None and math.isfinite(logprob):
            mass[label] += math.exp(logprob)
    if not any(mass.values()):
        return None
    listed = [math.exp(logprob) for _, logprob in top if math.isfinite(logprob)]
    bound = min(min(listed), max(0.0, 1.0 - sum(listed)))
    yes, no = (mass[label] or bound for label in (include, exclude))
    return yes / (yes + no)


def _label_of(token: str, include: str, exclude: str) -> str | None:
    spelling = token.strip().casefold()
    if not spelling:
        return None
    hits = [label for label in (include, exclude) if label.casefold().startswith(spelling)]
    return hits[0] if len(hits) == 1 else None
