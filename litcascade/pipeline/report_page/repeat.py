"""Everything needed to repeat a review: protocol, prompts, models, seeds, versions and hashes. No secret is written."""

import json
import platform
import re
from pathlib import PurePath

from litcascade import __version__
from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import SEED
from litcascade.report.page import Block, Prose, Verbatim
from litcascade.report.tables import Table
from litcascade.schemas.keys import digest
from litcascade.store import Store

_LOGIN = re.compile(r"(?i)([a-z][a-z0-9+.-]*://)[^/\s\"'@]*@")
_QUERY = re.compile(r"(?i)(https?://[^\s\"'?#]+)[?#][^\s\"']*")
_SECRET = re.compile(r"(?im)^(\s*[\w\"'.-]*(?:api[_-]?key|token|secret|password)[\"']?\s*=\s*)(?![\d.]+\s*(?:#|$)).*$")
_INLINE = re.compile(r"(?i)([{,]\s*[\"']?[\w.-]*(?:api[_-]?key|token|secret|password)[\"']?\s*=\s*)(\"[^\"]*\"|'[^']*')")


def without_secrets(text: str) -> str:
    """A text without logins and query strings of addresses, and without values of keys that are named like a secret.

    Names of environment variables (`api_key_env`) stay: they say where a key came from, not what it is.
    """
    lines = []
    for line in text.split("\n"):
        told = _QUERY.sub(r"\1?…", _LOGIN.sub(r"\1…@", line))
        if not re.match(r"\s*api_key_env\s*=", line):
            told = _INLINE.sub(r'\1"…"', _SECRET.sub(r'\1"…"', told))
        lines.append(told)
    return "\n".join(lines)


def repeat_blocks(review: Review, store: Store) -> list[Block]:
    """Tables of versions, models and hashes, then protocol and prompts sign by sign."""
    return [_versions(review, store), _models(review, store), _stages(store), _imports(store), *_texts(review, store)]


def _versions(review: Review, store: Store) -> Table:
    migration = store.value("select name from migrations order by name desc limit 1")
    seeds = store.rows(
        "select distinct 'splits', declared->>'seed' from split_versions "
        "union all select distinct 'audit', seed::text from audits "
        "union all select distinct 'labels for judges', seed::text from judge_samples order by 1, 2"
    )
    rows: list[list[object]] = [
        ["litcascade, writing this report", __version__], ["Python", platform.python_version()],
        ["system", f"{platform.system()} {platform.machine()}"], ["store, newest migration", migration],
        ["protocol, hash", review.protocol.hash()], ["seed of half-samples", SEED],
        *[[f"seed of {what}", seed] for what, seed in seeds if seed is not None],
    ]  # fmt: skip
    return Table("Versions and seeds", ["what", "value"], rows)


def model_rows(store: Store) -> list[list[object]]:
    """What ran, by run: run, date, name in the protocol, model, revision, engine, hash of the protocol."""
    rows: list[list[object]] = []
    for run, at, told, protocol in store.rows("select run_id, at_time::text, models, protocol_hash from runs order by seq"):
        for name, model in json.loads(told or "{}").items():
            engine = without_secrets(str(model.get("engine") or ""))
            rows.append([run, at[:10], name, model.get("name"), model.get("revision") or "not told", engine, protocol])
    return rows


def _models(review: Review, store: Store) -> Table:
    """By run; a protocol that was never run shows what it declares."""
    rows = model_rows(store) or [
        [None, None, name, _name(one.model), one.revision or "not told", one.backend, review.protocol.hash()]
        for name, one in review.protocol.models.items()
    ]
    header = ["run", "date", "name", "model", "revision", "engine", "protocol"]
    return Table("Models by run", header, rows)


def _name(model: str) -> str:
    """A model's name; of a path its last part, for folders of this machine are nobody's business."""
    return PurePath(model).name if model.startswith(("/", "~")) else model


def _stages(store: Store) -> Table:
    rows = store.rows("select stage, fingerprint, criteria_hash, run_id from current_stages order by 1")
    return Table("Fingerprints in force", ["stage", "fingerprint", "criteria", "since run"], rows)


def _imports(store: Store) -> Table:
    rows = store.rows("select left(at_time::text, 10), path, format, sha256 from imports order by seq")
    return Table("Imported files", ["date", "file", "format", "SHA-256"], rows)


def _texts(review: Review, store: Store) -> list[Block]:
    blocks: list[Block] = [Verbatim("The protocol (review.toml) as it stands", without_secrets(review.text))]
    earlier = store.rows("select hash, text from protocols where hash <> ? order by seq", [review.protocol.hash()])
    blocks += [Verbatim(f"An earlier protocol that ran or was amended: {key}", without_secrets(text)) for key, text in earlier]
    for (stage, reader), prompt in review.prompts.items():
        name = f"Prompt '{prompt.name}' of reader '{reader}' at {stage} (digest {digest(prompt.model_dump())[:12]})"
        blocks.append(Verbatim(name, f"# System\n{prompt.system}\n\n# User\n{prompt.user}"))
    replies = "Every request and raw reply stands in the store (table calls); `litcascade export replies FILE` writes them,"
    blocks.append(Prose(f'{replies} and a model with backend = "recorded" answers from them.'))
    one = "`litcascade archive FILE.zip` writes all of this and the store's tables into one file with checksums, and"
    blocks.append(Prose(f"{one} `litcascade replay FILE.zip` derives every verdict and number from it again, without a model."))
    return blocks
