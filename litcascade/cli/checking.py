"""`litcascade check`: the models of a protocol, probed."""

import asyncio
from dataclasses import asdict
from typing import Any

from litcascade.backends.probe import Finding, probe
from litcascade.errors import LitcascadeError
from litcascade.pipeline.binding import identify, make_backends
from litcascade.pipeline.review import Review
from litcascade.report import Table


def check_models(review: Review) -> tuple[list[Table], list[dict[str, Any]], bool]:
    """Probe every model that a stage uses; returns tables, plain findings, and whether a fatal one failed."""
    found = asyncio.run(_probe_all(review))
    rows = [
        [name, f.what, "yes" if f.ok else "NO" if f.fatal else "no", f.words or None] for name, fs in found.items() for f in fs
    ]
    plain = [{"model": name, **asdict(finding)} for name, findings in found.items() for finding in findings]
    failed = any(not finding.ok and finding.fatal for findings in found.values() for finding in findings)
    return [Table("Models", ["model", "what", "ok", "what to do"], rows)], plain, failed


async def _probe_all(review: Review) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    backends = make_backends(review)
    try:
        for name, backend in backends.items():
            if review.protocol.models[name].backend == "recorded":
                found[name] = [Finding("recorded replies", True)]
                continue
            try:
                model = (await identify(review.protocol, {name: backend}))[name]
                wants_json = review.protocol.stages.extraction is not None
                found[name] = await probe(backend, model, wants_json=wants_json)
            except LitcascadeError as error:
                found[name] = [Finding("gives a reply", False, str(error))]
    finally:
        for backend in backends.values():
            await backend.close()
    return found
