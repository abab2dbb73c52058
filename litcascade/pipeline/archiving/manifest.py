"""What an archive says of itself: the forms of its JSON files."""

from typing import Any

from pydantic import Field

from litcascade.schemas import ModelRef, Prompt, Shot
from litcascade.schemas.keys import Frozen

FORMAT = 1
MANIFEST, README, BINDING, ENVIRONMENT, NUMBERS = (
    "manifest.json", "README.txt", "binding.json", "environment.json", "numbers.json",
)  # fmt: skip


class FileEntry(Frozen):
    """One file of the archive: its size in bytes and its SHA-256; of a table's part also its table and rows."""

    path: str
    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    table: str | None = None
    rows: int | None = Field(default=None, ge=0)


class Manifest(Frozen):
    """`manifest.json`. `tables` are the rows of every table that is in; `left_out` maps what is not in to the reason.

    `blank` maps `table.column` to the reason why it is empty; `masked` maps where something was masked to what; `migrations` are
    those of the store the tables came from; `derivable` are the stages whose verdicts can be derived again.
    """

    format: int = FORMAT
    litcascade: str
    title: str
    created: str
    gold: bool
    texts: bool
    abstracts: bool
    derivable: tuple[str, ...]
    migrations: tuple[str, ...]
    tables: dict[str, int]
    left_out: dict[str, str] = Field(default_factory=dict)
    blank: dict[str, str] = Field(default_factory=dict)
    masked: dict[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    files: tuple[FileEntry, ...] = ()


class StageInForce(Frozen):
    """A stage as its verdicts rest on it: the fingerprint they carry, and the one that this protocol and these models give.

    `bound` differs from `fingerprint` where protocol, prompt or program changed after the stage last ran; None: it could not be
    bound. It is counted with models by their names in the archive.
    """

    stage: str
    fingerprint: str
    criteria_hash: str
    bound: str | None = None


class Binding(Frozen):
    """`binding.json`: what the protocol's readers were bound to. Prompts and worked examples are by stage, then reader.

    `blanked` are the stages whose worked examples stay out, as they hold abstracts or labels: they cannot be derived again.
    """

    models: dict[str, ModelRef] = Field(default_factory=dict)
    stages: tuple[StageInForce, ...] = ()
    prompts: dict[str, dict[str, Prompt]] = Field(default_factory=dict)
    shots: dict[str, dict[str, tuple[Shot, ...]]] = Field(default_factory=dict)
    blanked: tuple[str, ...] = ()


Json = dict[str, Any]
