"""Shared fixtures, and the rule that some suites may skip for a user but never in CI."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.reviews import ReviewFolder
from tests.support.server import ModelServer

DATA = Path(__file__).parent / "data"
CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"


def need(part: str, there: bool, why: str) -> None:
    """Skip with a reason, unless LITCASCADE_REQUIRE names the part: then fail."""
    if there:
        return
    if part in os.environ.get("LITCASCADE_REQUIRE", "").split(","):
        pytest.fail(f"LITCASCADE_REQUIRE names {part}, but {why}")
    pytest.skip(why)


@pytest.fixture
def corpora() -> Path:
    need("corpora", CORPORA.is_dir(), "the corpora are not beside this checkout (../shared/corpora)")
    return CORPORA


@pytest.fixture
def cases() -> Path:
    return DATA / "cases"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> ReviewFolder:
    return ReviewFolder(tmp_path / "review")
