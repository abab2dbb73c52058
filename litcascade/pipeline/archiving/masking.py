"""What is nobody's business, taken out: values of secrets, logins in addresses, folders of this machine."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from litcascade.pipeline.report_page.repeat import without_secrets
from litcascade.pipeline.review import Review

_NAMED_SECRET = re.compile(r"(?i)(api[_-]?key|token|secret|passw(or)?d|credential)")
_HEADER = re.compile(r"^\s*\[{1,2}\s*([\w-]+)")
SHORTEST = 8  # signs of a value that can be told from a word
MASK = "…"
_OPEN, _CLOSE = r"(^|[\s\"'`=:(\[,;])", r"([/\\\\\"'`\s):,;\]]|$)"


@dataclass(frozen=True)
class Mask:
    """What is replaced. `secrets`: environment variable to value; `folders`: path to what stands for it; `models`: name to alias.

    A model that is named by a path is called by its last part.
    """

    secrets: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """A small text without all of them."""
        for value in self.secrets.values():
            text = text.replace(value, MASK)
        for name, alias in self.models.items():
            text = text.replace(name, alias)
        for folder, instead in self.folders.items():
            text = re.sub(f"{_OPEN}{re.escape(folder)}{_CLOSE}", rf"\g<1>{instead}\g<2>", text, flags=re.MULTILINE)
        return text

    def sql(self, column: str, *, evidence: bool) -> str:
        """SQL of a text column without them; evidence (texts that questions are made of) loses secrets alone."""
        for value in self.secrets.values():
            column = f"replace({column}, {quoted(value)}, '{MASK}')"
        if evidence:
            return column
        for name, alias in self.models.items():
            column = f"replace({column}, {quoted(name)}, {quoted(alias)})"
        for folder, instead in self.folders.items():
            pattern = f"{_OPEN}{re.escape(folder)}{_CLOSE}"
            kept = "\\1" + instead + "\\2"
            column = f"regexp_replace({column}, {quoted(pattern)}, {quoted(kept)}, 'g')"
        return column

    def protocol(self, text: str) -> str:
        """A protocol without them, nor logins and keys in what it says of models and searches; criteria stay word for word."""
        told, part = [], ""
        for line in text.split("\n"):
            header = _HEADER.match(line)
            part = header.group(1) if header else part
            told.append(without_secrets(line) if part in ("models", "search") else line)
        return self.text("\n".join(told))


def mask_of(review: Review) -> Mask:
    """The mask of a review on this machine."""
    named = {model.api_key_env for model in review.protocol.models.values() if model.api_key_env}
    secrets = {
        name: value.strip()
        for name, value in os.environ.items()
        if (name in named or _NAMED_SECRET.search(name)) and len(value.strip()) >= SHORTEST and value.strip() != str(Path.home())
    }
    folders = {str(review.folder.resolve()): ".", str(Path.home()): "~"}
    paths = [model.model for model in review.protocol.models.values() if model.model.startswith(("/", "~"))]
    names = [PurePath(path).name for path in paths]
    taken = {model.model for model in review.protocol.models.values()}
    models = {path: name for path, name in zip(paths, names, strict=True) if names.count(name) == 1 and name not in taken}
    return Mask(
        dict(sorted(secrets.items(), key=lambda item: -len(item[1]))),
        {folder: instead for folder, instead in folders.items() if folder not in ("/", ".", "")},
        dict(sorted(models.items(), key=lambda item: -len(item[0]))),
    )


def quoted(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"
