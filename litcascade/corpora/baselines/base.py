"""What a baseline is: from texts and criteria a scorer that is shown the labels of its training records only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from litcascade.corpora.baselines.terms import count_terms
from litcascade.errors import InputError
from litcascade.registry import Registry
from litcascade.schemas import AbstractStatus, Record, ReferCode

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Embed = Callable[[Sequence[str]], npt.NDArray[np.floating[Any]]]
Cut = Literal["half", "recall"]


@dataclass(frozen=True)
class Material:
    """What a baseline sees before any label: one text a record, the criteria, and an embedding model where one is given.

    `embed` turns m texts into an array m x d.
    """

    texts: tuple[str, ...]
    criteria: str = ""
    embed: Embed | None = None

    @cached_property
    def terms(self) -> Any:
        """How often each word and pair of words stands in each text: a sparse array texts x terms, counted once."""
        return count_terms(self.texts)


class Scorer(Protocol):
    """Scores of held-out records from the labels of others."""

    def __call__(self, train: Ints, labels: Bools, held_out: Ints, rng: np.random.Generator, /) -> Floats:
        """Scores in [0, 1] of the records `held_out`; `labels` (true = include) are those of `train`, in its order.

        Both number the texts of the material. The label of a held-out record is not handed over, so it cannot leak.
        """
        ...


@dataclass(frozen=True)
class Baseline:
    """A baseline as declared.

    `cut` says how a score becomes a decision: `half` includes at a score of .5 and above; `recall` at the score that
    reaches the wanted recall on the training folds. `learns` needs labels, `reads_criteria` needs the criteria.
    """

    name: str
    summary: str
    cut: Cut
    learns: bool
    reads_criteria: bool
    prepare: Callable[[Material], Scorer]


def fixed(scores: Floats) -> Scorer:
    """A scorer that learns nothing: the text at each place has the score at that place."""

    def score(_train: Ints, _labels: Bools, held_out: Ints, _rng: np.random.Generator) -> Floats:
        return scores[held_out]

    return score


BASELINES: Registry[Baseline] = Registry("baseline")


def baseline(
    name: str, summary: str, *, cut: Cut, learns: bool = False, reads_criteria: bool = False
) -> Callable[[Callable[[Material], Scorer]], Callable[[Material], Scorer]]:
    """Register the decorated function (material to scorer) as a baseline."""

    def file(prepare: Callable[[Material], Scorer]) -> Callable[[Material], Scorer]:
        BASELINES.register(name)(Baseline(name, summary, cut, learns, reads_criteria, prepare))
        return prepare

    return file


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """Records with their gold labels (true = include), keyed by id; the other fields stand in the order of `ids`.

    A text is title and abstract, "" where there is neither. `groups` names the duplicate cluster of each record: one
    cluster never straddles two folds. `guards` says why a record may not be excluded by a machine (no abstract, a cut
    one), None where it may. Left empty, every record is its own group, and records without text are guarded.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    labels: Bools
    criteria: str = ""
    groups: tuple[str, ...] = ()
    guards: tuple[ReferCode | None, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", np.asarray(self.labels, dtype=bool))
        object.__setattr__(self, "groups", self.groups or self.ids)
        object.__setattr__(
            self, "guards", self.guards or tuple(None if text.strip() else ReferCode.NO_TITLE for text in self.texts)
        )
        for name in ("texts", "labels", "groups", "guards"):
            if len(getattr(self, name)) != len(self.ids):
                raise InputError(f"there are {len(self.ids)} ids and {len(getattr(self, name))} {name}; give one a record")
        if len(set(self.ids)) != len(self.ids):
            twice = next(one for place, one in enumerate(self.ids) if one in self.ids[:place])
            raise InputError(f"record '{twice}' stands twice in the set; make the ids unique")

    def only(self, places: Sequence[int] | Ints) -> "LabelledSet":
        """The set cut down to the records at these places."""
        kept = [int(place) for place in places]
        return replace(
            self,
            ids=tuple(self.ids[place] for place in kept),
            texts=tuple(self.texts[place] for place in kept),
            labels=self.labels[kept],
            groups=tuple(self.groups[place] for place in kept),
            guards=tuple(self.guards[place] for place in kept),
        )

    @property
    def with_text(self) -> Ints:
        """Places of the records that have a text."""
        return np.array([place for place, text in enumerate(self.texts) if text.strip()], dtype=np.int64)


def text_of(record: Record) -> str:
    """Title and abstract on lines of their own; "" where there is neither."""
    return "\n".join(part for part in (record.title, record.abstract) if part)


def guard_of(record: Record) -> ReferCode | None:
    """Why no machine may exclude the record on title and abstract, as for every reader; None where it may."""
    if not text_of(record).strip():
        return ReferCode.NO_TITLE
    if record.abstract_status is AbstractStatus.MISSING:
        return ReferCode.NO_ABSTRACT
    return ReferCode.CUT_ABSTRACT if record.abstract_status is AbstractStatus.TRUNCATED else None


def labelled_set(
    records: Sequence[Record],
    gold: Mapping[str, str],
    *,
    criteria: str = "",
    groups: Mapping[str, str] | None = None,
) -> LabelledSet:
    """Join records and gold (`include` or `exclude`) by record id; ids in one of the two only are an `InputError`.

    `groups` maps a record id to its duplicate cluster; a record it does not name is alone.
    """
    ids = tuple(record.record_id for record in records)
    for there, missing in (("a record but no gold", set(ids) - set(gold)), ("gold but no record", set(gold) - set(ids))):
        if missing:
            raise InputError(f"{len(missing)} id(s), such as '{min(missing)}', have {there}; give both, or leave them out")
    odd = next((one for one in ids if gold[one] not in ("include", "exclude")), None)
    if odd is not None:
        raise InputError(f"record '{odd}' has gold '{gold[odd]}', which is neither include nor exclude")
    return LabelledSet(
        ids=ids,
        texts=tuple(text_of(record) for record in records),
        labels=np.array([gold[one] == "include" for one in ids], dtype=bool),
        criteria=criteria,
        groups=tuple((groups or {}).get(one, one) for one in ids),
        guards=tuple(guard_of(record) for record in records),
    )
