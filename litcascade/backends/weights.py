"""A folder of weights as model hubs lay it out: whether it can be served, and which weights they are."""

import hashlib
from pathlib import Path

from litcascade.errors import InputError

TOKENIZERS = (
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "tekken.json",
    "spiece.model",
    "vocab.txt",
    "sentencepiece.bpe.model",
)
PIECE, PIECES = 1 << 16, 64
_READ = {".safetensors", ".bin", ".pt", ".gguf", ".json", ".jinja", ".model", ".txt", ".py"}


def is_path(name: str) -> bool:
    """Whether a name of weights can only be a folder, and no `owner/name` of a hub."""
    return name.startswith(("/", ".", "~")) or name.count("/") > 1


def needs_tokenizer(folder: Path, *, elsewhere: bool = False) -> None:
    """Refuse a folder that vLLM could not serve: without configuration, weights, or tokenizer (unless that is `elsewhere`)."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder of weights")
    names = {path.name for path in folder.iterdir()}
    if "config.json" not in names and not any(name.endswith(".gguf") for name in names):
        raise InputError(f"{folder}: holds no config.json, so it is no model; name the folder that does")
    if not any(name.endswith((".safetensors", ".bin", ".pt", ".gguf")) for name in names):
        raise InputError(f"{folder}: holds a configuration but no weights; bring them whole (*.safetensors)")
    if not elsewhere and not names.intersection(TOKENIZERS) and not any(name.endswith((".gguf", ".tiktoken")) for name in names):
        raise InputError(
            f"{folder}: holds no tokenizer; copy tokenizer.json and tokenizer_config.json of the same model into it, or name "
            'another one with vllm = { tokenizer = "NAME" }'
        )


def folder_digest(folder: Path) -> str:
    """16 hexadecimal digits of a folder of weights: names and sizes of its files, small ones whole, large ones by 64 pieces.

    Weights that were trained on differ nearly everywhere, so that pieces tell them apart; a single changed number may pass.
    """
    told = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in _READ and path.is_file()):
        size = path.stat().st_size
        told.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as handle:
            step = max(PIECE, size // PIECES)
            for start in range(0, size, step):
                handle.seek(start)
                told.update(handle.read(PIECE))
    return told.hexdigest()[:16]
