"""What is nobody's business, taken out: values of secrets, logins in addresses, folders of this machine."""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from litcascade.errors import InputError
from litcascade.pipeline.report_page.repeat import without_secrets
from litcascade.pipeline.review import Review

_NAMED_SECRET = re.compile(r"(?i)(api[_-]?key|token|secret|passw(or)?d|credential)")
_NO_SECRET = re.compile(r"(?i)^(api_key_env|.*tokens.*)$")  # names of variables, and counts
SHORTEST = 8  # signs of a value that can be told from a word
MASK = "…"
_OPEN, _CLOSE = r"(^|[^\w./\\~-]|\\[bfnrt]|\\?/\\?/|file:)", r"([^\w.-]|\.\s|\.$|$)"
_LOGIN = (r"([A-Za-z][A-Za-z0-9+.-]*:(?:\\?/){2})[^/\s\"'@\\]*@", rf"\1{MASK}@")
_QUERY = (r"(https?:(?:\\?/){2}[^\s\"'?#\\]+)\?[^\s\"'\\]*", rf"\1?{MASK}")


@dataclass(frozen=True)
class Mask:
    """What is replaced. `secrets`: environment variable to value; `folders`: path to what stands for it; `models`: name to alias.

    `addresses` maps an address with a login or a query string to the same without. A model that is named by a path is called by
    its last part.
    """

    secrets: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """A small text without all of them."""
        for old, new in self._everywhere():
            text = text.replace(old, new)
        for name, alias in self.models.items():
            text = text.replace(name, alias)
        for pattern, instead in self._folders():
            for _ in range(2):  # what closes one folder may open the next
                text = re.sub(pattern, rf"\g<1>{instead}\g<2>", text, flags=re.MULTILINE)
        return text

    def sql(self, column: str, *, evidence: bool, addresses: bool = False) -> str:
        """SQL of a text column without them; evidence (texts that questions are made of) loses secrets and addresses alone.

        With `addresses` logins and query strings of all addresses in it go as well.
        """
        for old, new in self._everywhere():
            column = f"replace({column}, {quoted(old)}, {quoted(new)})"
        if evidence:
            return column
        for name, alias in self.models.items():
            column = f"replace({column}, {quoted(name)}, {quoted(alias)})"
        for pattern, instead in self._folders():
            kept = "\\1" + instead + "\\2"
            for _ in range(2):
                column = f"regexp_replace({column}, {quoted(pattern)}, {quoted(kept)}, 'g')"
        if addresses:
            for pattern, kept in (_LOGIN, _QUERY):
                column = f"regexp_replace({column}, {quoted(pattern)}, {quoted(kept)}, 'g')"
        return column

    def protocol(self, text: str) -> str:
        """A protocol without them, nor logins and keys in what it says of models and searches; criteria stay word for word.

        Raises `InputError` where one is written so that it cannot be found in the text (with escapes of TOML).
        """
        try:
            pairs = dict(_private(tomllib.loads(text)))
        except tomllib.TOMLDecodeError:
            return self.text(without_secrets(text))
        told = _replaced(text, pairs)
        with_escapes = [value for value, shown in _private(tomllib.loads(told)) if value in pairs and value != shown]
        if with_escapes:
            raise InputError("review.toml: an address with a login, or a key, is written with escapes; write its signs plainly")
        return self.text(told)

    def _everywhere(self) -> Iterator[tuple[str, str]]:
        pairs = [
            (form, shown) for value, new in self.addresses.items() for form, shown in zip(forms(value), forms(new), strict=True)
        ]
        pairs += [(form, MASK) for value in self.secrets.values() for form in forms(value)]
        yield from sorted(dict(reversed(pairs)).items(), key=lambda pair: -len(pair[0]))

    def _folders(self) -> Iterator[tuple[str, str]]:
        for folder, instead in self.folders.items():
            for form in dict.fromkeys(forms(folder)):
                yield f"{_OPEN}{re.escape(form)}{_CLOSE}", instead


def forms(value: str) -> tuple[str, ...]:
    """A value as it stands, and as it stands inside a text of JSON, and inside JSON in JSON; some may be alike."""
    plain, ascii_only = json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]
    twice = [json.dumps(form)[1:-1] for form in (plain, ascii_only)]
    return (value, *(made for form in (plain, ascii_only, *twice) for made in (form, form.replace("/", "\\/"))))


def shown_address(address: str) -> str:
    """An address without login, query string and fragment."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    login, at, place = rest.rpartition("@")
    place, query = re.match(r"([^?#]*)(.*)", place, re.DOTALL).groups()  # type: ignore[union-attr]
    return f"{scheme}://{MASK + '@' if at and login != MASK else login + at}{place}{'?' + MASK if query else ''}"


def _private(protocol: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(Value, what is shown) of each address with a login or a query, and of each key, in models and searches."""
    for part in ("models", "search", "bench"):
        for name, value in _strings(protocol.get(part, {}), ""):
            shown = shown_address(value)
            if _NAMED_SECRET.search(name) and not _NO_SECRET.match(name):
                yield value, MASK
            elif shown != value:
                yield value, shown


def _strings(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _strings(item, str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, name)
    elif isinstance(value, str) and value:
        yield name, value


def _replaced(text: str, pairs: Mapping[str, str]) -> str:
    """Each value replaced where it stands in quotes, and addresses anywhere."""
    for value, shown in sorted(pairs.items(), key=lambda pair: -len(pair[0])):
        for form in dict.fromkeys(forms(value)):
            if "://" in value:
                text = text.replace(form, shown)
            for mark in ('"', "'"):
                text = text.replace(f"{mark}{form}{mark}", f"{mark}{shown}{mark}")
    return text


def _logins(addresses: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Passwords and values of query strings long enough to be told from a word, named for where they stand."""
    for address in addresses:
        rest = address.partition("://")[2]
        login, _, place = rest.rpartition("@")
        query = re.split(r"[?#]", place, maxsplit=1)[1:]
        values = [login.partition(":")[2], *(part.partition("=")[2] for text in query for part in re.split("[&;]", text))]
        for number, value in enumerate(value for value in values if len(value) >= SHORTEST):
            yield f"(login of {shown_address(address)}, {number + 1})", value


def mask_of(review: Review, earlier: Sequence[str] = ()) -> Mask:
    """The mask of a review on this machine; `earlier` are texts of protocols that it had before."""
    named = {model.api_key_env for model in review.protocol.models.values() if model.api_key_env}
    secrets = {
        name: value.strip()
        for name, value in os.environ.items()
        if (name in named or _NAMED_SECRET.search(name)) and len(value.strip()) >= SHORTEST and value.strip() != str(Path.home())
    }
    private: dict[str, str] = {}
    for text in (review.text, *earlier):
        try:
            private |= dict(_private(tomllib.loads(text)))
        except tomllib.TOMLDecodeError:
            continue
    addresses = {value: shown for value, shown in private.items() if "://" in value}
    addresses |= {value.rstrip("/"): shown.rstrip("/") for value, shown in addresses.items()}
    secrets |= dict(_logins(list(addresses)))
    logins = [value.partition("://")[2].rpartition("@")[0] for value in addresses]
    addresses |= {f"://{login}@": f"://{MASK}@" for login in logins if login}
    folders = {str(review.folder.resolve()): ".", str(Path.home()): "~"}
    paths = [model.model for model in review.protocol.models.values() if model.model.startswith(("/", "~"))]
    names = [PurePath(path).name for path in paths]
    taken = {model.model for model in review.protocol.models.values()}
    models = {path: name for path, name in zip(paths, names, strict=True) if names.count(name) == 1 and name not in taken}
    return Mask(
        dict(sorted(secrets.items(), key=lambda item: -len(item[1]))),
        {folder: instead for folder, instead in folders.items() if folder not in ("/", ".", "")},
        dict(sorted(models.items(), key=lambda item: -len(item[0]))),
        addresses,
    )


def quoted(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"
