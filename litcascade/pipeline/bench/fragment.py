"""A frozen rule as a piece of a protocol: the readers it asks, and the stage that applies it."""

import json
from typing import Any

from litcascade.errors import InputError
from litcascade.eval.panels.rules import describe
from litcascade.pipeline.bench.choosing import readers_of, stored_rule
from litcascade.pipeline.review import Review
from litcascade.schemas.bench import BenchSpec
from litcascade.store import Store


def protocol_fragment(review: Review, store: Store, bench: BenchSpec, rule_id: str) -> str:
    """TOML to put in the place of the stage in review.toml: predicted positives go to people, the rest are silver exclusions."""
    rule = stored_rule(store, rule_id)
    fingerprints = json.loads(store.value("select readers from panel_rules where rule_id = ?", [rule_id]))
    names = readers_of(rule)
    parts = [f"# {rule_id}: {describe(rule)}"]
    for name in names:
        spec = review.protocol.readers.get(name)
        if name not in fingerprints:
            if spec is None or not spec.person:
                raise InputError(f"the rule '{rule_id}' asks '{name}', who is neither a cell of the grid nor a person's reader")
            continue
        parts.append(_reader(store, bench, name, fingerprints[name]))
    stage = {
        "readers": list(names), "policy": "rule", "rule": rule.model_dump(mode="json"), "positives": "people",
        **({"refiner": bench.refiner} if bench.refiner else {}),
    }  # fmt: skip
    parts.append("\n".join([f"[stages.{bench.stage}]", *(f"{key} = {_toml(value)}" for key, value in stage.items())]))
    return "\n".join(parts) + "\n"


def _reader(store: Store, bench: BenchSpec, name: str, fingerprint: str) -> str:
    model, prompt, style, examples, rationales, repeat = store.rows(
        "select model, prompt, style, examples, rationales, repeat from bench_cells where fingerprint = ?", [fingerprint]
    )[0]
    keys: dict[str, Any] = {"model": model, "prompt": prompt, "style": style, "labels": list(bench.labels)}
    keys |= {"shots": list(examples)} if examples else {}
    keys |= {"rationales": True} if rationales else {}
    keys |= {"temperature": bench.temperature, "seed": bench.seed + repeat} if bench.temperature else {}
    keys |= {"max_tokens": bench.max_tokens} if bench.max_tokens else {}
    return "\n".join([f"[readers.{name}]", *(f"{key} = {_toml(value)}" for key, value in keys.items())])


def _toml(value: Any) -> str:
    """A plain value as TOML on one line; strings as JSON writes them, which TOML reads alike."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items() if item is not None) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=True) if isinstance(value, str) else repr(value)
