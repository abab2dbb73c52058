"""The queues by name, by what rules they are worked, and who sees them."""

from dataclasses import dataclass, replace

from litcascade.desk.users import User
from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.schemas import Protocol


@dataclass(frozen=True)
class Rules:
    """How the desk is worked: two blind opinions a record or one decision, and after how many days one reads again.

    `double` holds at every screening stage, `stages` are those of which the protocol says so.
    """

    double: bool = False
    again_after: float = 14.0
    stages: frozenset[str] = frozenset()

    def two(self, stage: str) -> bool:
        """Whether two people read each record of a stage blind."""
        return self.double or stage in self.stages

    @property
    def anywhere(self) -> bool:
        """Whether two people read blind at any stage."""
        return self.double or bool(self.stages)

    def under(self, protocol: Protocol) -> "Rules":
        """These rules with what the protocol says of its stages."""
        return replace(self, stages=frozenset(name for name, spec in protocol.stages.items() if spec.people == "double"))


@dataclass(frozen=True)
class Queue:
    """A queue: its name in addresses, its heading, what stands on its screens, and whether it is worked blind."""

    name: str
    title: str
    about: str
    screen: str
    blind: bool = False
    arbiter: bool = False


QUEUES = {
    queue.name: queue
    for queue in (
        Queue("referred", "Referred", "Records that no model may decide, with the reason why.", "record"),
        Queue("panel", "Your readings", "Records that wait for you as a reader of the panel; read blind.", "record", blind=True),
        Queue("positives", "Predicted positives", "Records that models included, for a person to confirm.", "record"),
        Queue("readers", "Readers differ", "Records on which the readers of the panel do not agree.", "record"),
        Queue("people", "People differ", "Records on which people do not agree, or one is unsure.", "record", arbiter=True),
        Queue("audit", "Audit", "A random sample of what models excluded, read blind.", "record", blind=True),
        Queue("again", "Read again", "Some of your own earlier decisions, read blind a second time.", "record", blind=True),
        Queue("extraction", "Extraction", "Extracted values to check against the report.", "extraction"),
        Queue("calibration", "Judge calibration", "Drawn items to label, without a word of the judge.", "label", blind=True),
        Queue("duplicates", "Possible duplicates", "Pairs of records that may be the same report.", "pair"),
        Queue("harmonising", "Harmonising", "Free text that no model could label alone, to label by hand.", "harmonise"),
        Queue("schema", "Schema edits", "Changes of the extraction schema that a model proposed, with their evidence.", "schema"),
        Queue("causes", "Causes of errors", "Verdicts that differ from the gold label: why?", "cause"),
    )
}


def queue_named(name: str) -> Queue:
    """A queue by its name; an unknown one is an `InputError`."""
    if name not in QUEUES:
        raise InputError(f"there is no queue '{name}'; there are: {', '.join(QUEUES)}")
    return QUEUES[name]


def may_see(queue: Queue, user: User) -> bool:
    """Whether a person works (or looks at) a queue: what people differ on is the arbiter's."""
    return user.role == "arbiter" or not queue.arbiter


def readers_at(review: Review, stage: str) -> set[str]:
    """The people who are readers of a stage's panel, in small letters."""
    spec = dict(review.protocol.stages.items())[stage]  # type: ignore[index]
    return {name.casefold() for name in spec.readers if review.protocol.readers[name].person}
