"""Where a recorder's rows go, and where known replies come from: the review's store, or the files of a shard."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from litcascade.schemas import Reply, TokenLogprobs
from litcascade.store import Store


class Sink(Protocol):
    """What a recorder needs; safe to call from several threads."""

    def transaction(self) -> AbstractContextManager[None]:
        """A context in which all that is appended stands or falls together."""
        ...

    def append(self, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Append rows with the same keys; returns how many."""
        ...

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """The replies to these request keys that are kept already."""
        ...

    def token_counts(self, model: str, revision: str, keys: Sequence[str]) -> dict[str, int]:
        """Tokens of the texts with these keys, as far as they were counted."""
        ...


class StoreSink:
    """The review's store as a sink."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def transaction(self) -> AbstractContextManager[None]:
        """A transaction of the store."""
        return self.store.transaction()

    def append(self, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Append to a table of the store."""
        return self.store.append(table, rows)

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Stored replies."""
        rows = self.store.rows(
            f"select {', '.join(REPLY_COLUMNS)} from calls where key in (select unnest(?::text[]))", [list(keys)]
        )
        return {row[0]: reply_from(row) for row in rows}

    def token_counts(self, model: str, revision: str, keys: Sequence[str]) -> dict[str, int]:
        """Stored counts."""
        rows = self.store.rows(
            "select text_key, tokens from token_counts where model = ? and revision = ? "
            "and text_key in (select unnest(?::text[]))",
            [model, revision, list(keys)],
        )
        return dict(rows)


def as_sink(target: Store | Sink) -> Sink:
    """A store as a sink; a sink as it is."""
    return StoreSink(target) if isinstance(target, Store) else target


REPLY_COLUMNS = (
    "key", "text", "reasoning", "finish_reason", "refused", "prompt_tokens", "cached_tokens", "completion_tokens", "seconds",
    "logprobs", "raw",
)  # fmt: skip


def reply_from(row: Sequence[Any]) -> Reply:
    """A row of `calls` (`REPLY_COLUMNS`) as a reply."""
    key, text, reasoning, finish, refused, prompt, cached, completion, seconds, logprobs, raw = row
    positions = tuple(TokenLogprobs.model_validate(item) for item in json.loads(logprobs)) if logprobs else ()
    return Reply(
        key=key, text=text, reasoning=reasoning, finish_reason=finish, refused=refused, prompt_tokens=prompt,
        cached_tokens=cached, completion_tokens=completion, seconds=seconds or 0.0, logprobs=positions, raw=raw or "",
    )  # fmt: skip
