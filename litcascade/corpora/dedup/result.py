"""What de-duplication says: pairs with their reason, clusters of one report, groups of reports of one study."""

from dataclasses import dataclass
from enum import StrEnum

from litcascade.schemas import PublicationStatus


class Verdict(StrEnum):
    """What a pair of records is: one report twice, perhaps so (a person must look), two reports of one study, or neither."""

    SAME = "same"
    UNSURE = "unsure"
    SAME_STUDY = "same study"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two records, in the order of the input, with the rule that spoke and a sentence why.

    `verdict` is never `different` here. `score` is the likeness of the two titles, 0 to 1; None where titles took no part.
    """

    first: str
    second: str
    verdict: Verdict
    rule: str
    why: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's word on two records: `same`, `different` or `same study`. It goes before every rule."""

    first: str
    second: str
    verdict: Verdict
    by: str = "a person"


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The answer for a list of records; every record id is a key of `clusters` and of `studies`.

    `clusters` maps a record to the record kept for it (itself where it is kept), `studies` a record to the kept record that
    names its study; a study holds whole clusters. `pairs` holds the joins that made the clusters, the links that made the
    studies, and every pair that waits for a person. `statuses` maps a record to its publication status, where it has one; in a
    cluster with a retracted record every record is retracted. `notes` says what was not compared in full, and why.
    """

    pairs: tuple[Pair, ...]
    clusters: dict[str, str]
    studies: dict[str, str]
    statuses: dict[str, PublicationStatus]
    notes: tuple[str, ...] = ()

    def removed(self) -> list[str]:
        """The records that another stands for, in the order of the input."""
        return [record_id for record_id, kept in self.clusters.items() if record_id != kept]

    def unsure(self) -> list[Pair]:
        """The pairs that wait for a person."""
        return [pair for pair in self.pairs if pair.verdict is Verdict.UNSURE]
