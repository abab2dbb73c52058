"""The house itself: lint, types, floors, parity of registries and docs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def run(*command: str | Path) -> str:
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize(
    "command", [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",), ("lint-imports",)], ids=" ".join
)
def test_lint_types_and_floors(command: tuple[str, ...]) -> None:
    run(BIN / command[0], *command[1:])


def test_ci_calls_the_readmes_test_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line.strip() for line in readme.splitlines() if line.strip().startswith("python3 -m venv")]
    assert len(commands) == 2
    assert commands[1].endswith("pytest")
    assert commands[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_registered_part_is_documented() -> None:
    import litcascade.backends
    import litcascade.corpora
    import litcascade.eval
    import litcascade.judges
    import litcascade.stages
    from litcascade.corpora.baselines import BASELINES
    from litcascade.corpora.sets import SETS
    from litcascade.corpora.texts import TEXT_READERS
    from litcascade.pipeline.exporting import EXPORTERS

    docs = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))
    for registry in (
        litcascade.backends.BACKENDS, litcascade.corpora.READERS, litcascade.corpora.FILE_READERS, TEXT_READERS, SETS, BASELINES,
        litcascade.eval.METRICS,
        litcascade.judges.JUDGES, litcascade.stages.STAGE_CLASSES, litcascade.stages.POLICIES, EXPORTERS,
    ):  # fmt: skip
        for name in registry.names():
            assert f"`{name}`" in docs, f"{registry.kind} '{name}' is not documented"


def test_pages_made_from_code_are_fresh() -> None:
    run(sys.executable, ROOT / "tools" / "make_docs.py", "--check")


def test_every_protocol_key_is_documented() -> None:
    from pydantic import BaseModel

    from litcascade.schemas import protocol
    from litcascade.schemas.bench import BenchPrices, BenchSpec, BenchSplits
    from litcascade.schemas.fields import FieldSpec

    text = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    tables: list[type[BaseModel]] = [
        protocol.Review, protocol.Search, protocol.Criterion, protocol.ModelSpec, protocol.ReaderSpec, protocol.StageSpec,
        protocol.OperatingPoint, protocol.Budget, FieldSpec, BenchSpec, BenchSplits, BenchPrices,
    ]  # fmt: skip
    missing = [f"{table.__name__}.{key}" for table in tables for key in table.model_fields if f"`{key}`" not in text]
    assert not missing


def test_the_seven_recipes_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").casefold()
    for what in ("stage", "metric", "judge", "corpus", "backend", "prompt", "exporter"):
        assert f"add a {what}" in text or f"add an {what}" in text, what


def test_the_base_install_imports_nothing_heavy_for_help() -> None:
    heavy = ["duckdb", "polars", "langgraph", "openai", "instructor", "aiohttp", "lxml", "xllamacpp", "pypdfium2"]
    code = f"import sys, litcascade.cli.app; print([m for m in {heavy!r} if m in sys.modules])"
    assert run(sys.executable, "-c", code).strip() == "[]"
