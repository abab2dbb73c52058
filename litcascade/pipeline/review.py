"""A review on disk: a folder with `review.toml`, the store, the events and the checkpoints."""

from dataclasses import dataclass
from pathlib import Path

from litcascade.errors import InputError, ProtocolError
from litcascade.schemas import Prompt, Protocol, ReaderSpec, parse_protocol
from litcascade.stages.policy import POLICIES
from litcascade.stages.prompt import load, require_places, split
from litcascade.stages.words import contradicts
from litcascade.store import FILE_NAME, Store

PROTOCOL_NAME = "review.toml"
DEFAULT_PROMPT = {"title_abstract": "inclusion_exclusion", "full_text": "one_step_basic", "extraction": "quote_value"}
TOKENS = {"constrained": 8, "free": 1024, "criteria": 256}


@dataclass(frozen=True)
class Review:
    """The folder and the protocol in it, validated; `prompts` maps (stage, reader) to the prompt text."""

    folder: Path
    text: str
    protocol: Protocol
    prompts: dict[tuple[str, str], Prompt]

    @property
    def store_path(self) -> Path:
        """Where the review's DuckDB file is."""
        return self.folder / FILE_NAME

    @property
    def events_path(self) -> Path:
        """Where the event log is, beside the store."""
        return self.folder / "events.jsonl"

    @property
    def checkpoints_path(self) -> Path:
        """Where the run graph keeps its cursor."""
        return self.folder / "run.checkpoints.sqlite"

    def open(self, *, create: bool = False, read_only: bool = False) -> Store:
        """Open the store, its views made for this protocol's stages."""
        store = Store(self.store_path, create=create, read_only=read_only)
        store.set_stages([name for name, _ in self.protocol.stages.items()])
        return store


def open_review(folder: Path) -> Review:
    """Read and validate the protocol of a review folder."""
    path = folder / PROTOCOL_NAME
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; make a review with `litcascade init {folder}`")
    if not path.is_file():
        raise InputError(
            f"{folder}: holds no {PROTOCOL_NAME}; make one with `litcascade init {folder}`, or name another --review"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ProtocolError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    protocol = parse_protocol(text, str(path))
    return Review(folder, text, protocol, _load_prompts(protocol, folder))


def _load_prompts(protocol: Protocol, folder: Path) -> dict[tuple[str, str], Prompt]:
    prompts: dict[tuple[str, str], Prompt] = {}
    for stage, spec in protocol.stages.items():
        if stage != "extraction":
            POLICIES.get(spec.policy)(spec)  # a rule that cannot be used is told before anything is asked
        for name in [*spec.readers, *([spec.longer] if spec.longer and spec.longer not in spec.readers else [])]:
            reader = protocol.readers[name]
            wrong = None if reader.person else contradicts(*reader.labels)
            if wrong is not None:
                raise InputError(
                    f"reader '{name}' uses '{wrong}' as a label for what the word does not mean; choose other labels"
                )
            if not reader.person:
                prompts[(stage, name)] = load_prompt(stage, reader, folder)
    return prompts


def load_prompt(stage: str, reader: ReaderSpec, folder: Path) -> Prompt:
    """A reader's prompt: one that the program ships, or a file beside the protocol; a wrong name is an `InputError`."""
    name = reader.prompt or ("by_criterion" if reader.style == "criteria" else DEFAULT_PROMPT[stage])
    if not name.endswith(".md"):
        return load(stage, name)
    path = folder / name
    if not path.is_file():
        raise InputError(f"{path}: there is no such prompt file")
    try:
        prompt = split(path.read_text(encoding="utf-8-sig"), name)
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    require_places(prompt, stage)
    return prompt
