"""Looking at model servers that run already: what they serve, with which context and version, and whether they are well."""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from litcascade.schemas import ModelSpec

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a server near by is not reached through a proxy


def health(url: str) -> int | None:
    """The HTTP status of `/health`; None where nothing answers."""
    try:
        with _OPENER.open(f"{url.removesuffix('/v1')}/health", timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, ValueError):
        return None


@dataclass(frozen=True)
class Attached:
    """What runs at an endpoint, and what is wrong with it for the run (nothing: it fits)."""

    url: str
    serves: tuple[str, ...] = ()
    context: int | None = None
    version: str | None = None
    faults: tuple[str, ...] = ()


def attach(spec: ModelSpec, urls: Sequence[str]) -> list[Attached]:
    """Look at running endpoints: health, the model asked for, its context, the version, the same at all of them."""
    key = os.environ.get(spec.api_key_env, "").strip() if spec.api_key_env else None
    found = [_look(spec, url.rstrip("/"), key) for url in urls]
    versions = {one.version for one in found if one.version}
    if len(versions) > 1:
        words = f"the endpoints run different versions ({', '.join(sorted(versions))}): replies could not be told apart"
        found = [Attached(one.url, one.serves, one.context, one.version, (*one.faults, words)) for one in found]
    return found


def _look(spec: ModelSpec, url: str, key: str | None) -> Attached:
    served = served_models(url, key)
    if served is None:
        return Attached(url, faults=("nothing answers there as an OpenAI-compatible server; start it with `litcascade serve`",))
    version = _json(f"{url.removesuffix('/v1')}/version", key)
    told = str(version["version"]) if isinstance(version, dict) and version.get("version") else None
    context = served.get(spec.model)
    faults = []
    if spec.model not in served:
        faults.append(f"it serves {', '.join(served) or 'nothing'}, not '{spec.model}'; serve that, or mend `model`")
    elif context is not None and context < spec.context:
        faults.append(f"its context is {context} tokens, not {spec.context}; serve it with --max-model-len {spec.context}")
    if health(url) not in (200, 404):  # other servers have no such page
        faults.append("its health page does not say that it is well, so its engine may be dead")
    return Attached(url, tuple(served), context, told, tuple(faults))


def served_models(url: str, key: str | None = None) -> dict[str, int | None] | None:
    """Served names with their context, None where it is not told; None where no such server answers."""
    content = _json(f"{url}/models", key)
    items = content.get("data") if isinstance(content, dict) else None
    if not isinstance(items, list):
        return None
    served: dict[str, int | None] = {}
    for item in items:
        if isinstance(item, dict) and "id" in item:
            length = item.get("max_model_len")
            served[str(item["id"])] = length if isinstance(length, int) else None
    return served


def _json(url: str, key: str | None) -> Any:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})
    try:
        with _OPENER.open(request, timeout=20) as answer:
            return json.loads(answer.read())
    except (OSError, ValueError):
        return None
