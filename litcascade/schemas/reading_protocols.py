"""Reading a protocol: TOML, the data types, and the references between its tables; every fault with its line and the mend."""

import tomllib
from typing import Any

from pydantic import ValidationError

from litcascade.errors import ProtocolError
from litcascade.registry import nearest
from litcascade.schemas.bench import BenchPrices, BenchSpec, BenchSplits
from litcascade.schemas.fields import FieldSpec
from litcascade.schemas.logic import parse_logic
from litcascade.schemas.protocol import (
    Budget,
    Criterion,
    ModelSpec,
    OperatingPoint,
    Protocol,
    ReaderSpec,
    Review,
    Search,
    Stages,
    StageSpec,
)
from litcascade.schemas.toml_lines import line_of


def parse_protocol(text: str, source: str = "review.toml") -> Protocol:
    """Read a protocol; every fault is a `ProtocolError` that names file, line and the mend."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProtocolError(f"{source}: not valid TOML: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"{source}: holds a number too long or tables too deep to read ({type(error).__name__})") from None
    if "criteria" not in content or not content["criteria"]:
        raise ProtocolError(f"{source}: there are no criteria; add at least one [[criteria]] with id, kind and text")
    try:
        protocol = Protocol.model_validate(content)
    except ValidationError as error:
        raise ProtocolError(_explain(error, text, source)) from None
    _check_references(protocol, text, source)
    return protocol


def _explain(error: ValidationError, text: str, source: str) -> str:
    """The first fault as one sentence with file, line and the nearest right name."""
    faults = error.errors(include_url=False)
    first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    path = tuple(part for part in first["loc"])
    where = f"{source}:{line_of(text, path)}"
    dotted = ".".join(str(part) for part in path)
    if first["type"] == "extra_forbidden":
        return f"{where}: unknown key '{dotted}'{nearest(str(path[-1]), _known_keys(path[:-1]))}"
    if first["type"] == "missing":
        return f"{where}: '{dotted}' is missing"
    return f"{where}: {dotted}: {first['msg'].removeprefix('Value error, ')}"


def _known_keys(path: tuple[int | str, ...]) -> list[str]:
    """The keys allowed at a place of the protocol."""
    table: Any = Protocol
    places: dict[str, Any] = {
        "review": Review, "search": Search, "criteria": Criterion, "models": ModelSpec, "readers": ReaderSpec,
        "fields": FieldSpec, "operating_point": OperatingPoint, "budget": Budget,
        "bench": BenchSpec,
    }  # fmt: skip
    if path:
        table = places.get(str(path[0]))
        if path[0] == "bench" and len(path) > 1:
            table = {"splits": BenchSplits, "prices": BenchPrices}.get(str(path[1]))
        if path[0] == "stages":
            table = Stages if len(path) == 1 else StageSpec
    return list(table.model_fields) if table is not None else []


def _check_references(protocol: Protocol, text: str, source: str) -> None:
    def fail(path: tuple[str | int, ...], message: str) -> None:
        raise ProtocolError(f"{source}:{line_of(text, path)}: {message}")

    _check_unique([c.id for c in protocol.criteria], "criteria", "criterion id", fail)
    _check_unique([f.name for f in protocol.fields], "fields", "field name", fail)
    for number, field in enumerate(protocol.fields):
        if field.arm or field.time:
            key = "arm" if field.arm else "time"
            fail(("fields", number, key), f"field '{field.name}' is no sub-field of a group; take out its {key}")
    for name, reader in protocol.readers.items():
        if reader.model is not None and reader.model not in protocol.models:
            hint = nearest(reader.model, protocol.models)
            words = f"reader '{name}' names a model '{reader.model}' that is not under [models]{hint}"
            fail(("readers", name, "model"), words)
    _check_bench(protocol, fail)
    if not protocol.stages.items():
        fail(("stages",), "no stage is declared; add [stages.title_abstract] with its readers")
    for stage, spec in protocol.stages.items():
        _check_stage(protocol, stage, spec, fail)
    if protocol.stages.extraction and not protocol.fields:
        fail(("stages", "extraction"), "stage 'extraction' needs at least one [[fields]]")


def _check_bench(protocol: Protocol, fail: Any) -> None:
    bench = protocol.bench
    if bench is None:
        return
    for model in bench.models:
        if model not in protocol.models:
            fail(
                ("bench", "models"), f"bench names a model '{model}' that is not under [models]{nearest(model, protocol.models)}"
            )
    if bench.refiner and (bench.refiner not in protocol.readers or protocol.readers[bench.refiner].person):
        fail(("bench", "refiner"), f"the refiner '{bench.refiner}' must be a model's reader under [readers]")
    names = [cell.name for cell in bench.cells()]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        fail(("bench", "prompts"), f"two cells of the grid would both be called '{twice}'; rename a prompt file")


def _check_stage(protocol: Protocol, stage: str, spec: StageSpec, fail: Any) -> None:
    for name in [*spec.readers, *(one for one in (spec.refiner, spec.longer) if one)]:
        if name not in protocol.readers:
            hint = nearest(name, protocol.readers)
            fail(("stages", stage), f"stage '{stage}' names a reader '{name}' that is not under [readers]{hint}")
    persons = [name for name in spec.readers if protocol.readers[name].person]
    if persons and spec.policy == "threshold":
        fail(("stages", stage, "policy"), f"a person ('{persons[0]}') gives no score; use policy = \"vote\" with people")
    free = [name for name in spec.readers if protocol.readers[name].style == "free"]
    if free and spec.policy == "threshold":
        words = f'reader \'{free[0]}\' is free and gives no score; use style = "constrained", or policy = "vote"'
        fail(("stages", stage, "policy"), words)
    _check_roles(protocol, stage, spec, fail)
    _check_criteria_style(protocol, stage, spec, fail)
    if stage != "extraction" and not protocol.criteria_for(stage):
        fail(("stages", stage), f"no criterion applies at stage '{stage}'")


def _check_roles(protocol: Protocol, stage: str, spec: StageSpec, fail: Any) -> None:
    if spec.refiner and stage != "full_text":
        fail(("stages", stage, "refiner"), f"a refiner does nothing at '{stage}'; it belongs to full_text")
    shown = [name for name in spec.readers if protocol.readers[name].shots and stage == "extraction"]
    if shown:
        fail(("readers", shown[0], "shots"), "worked examples are shown at the screening stages, not at 'extraction'")
    if spec.positives == "people" and stage == "extraction":
        fail(("stages", stage, "positives"), 'positives = "people" belongs to the screening stages')
    for role in ("refiner", "longer"):
        named = getattr(spec, role)
        if named and protocol.readers[named].person:
            fail(("stages", stage, role), f"the {role} '{named}' is a person; it must be a model's reader")
    if spec.longer and stage == "title_abstract":
        fail(("stages", stage, "longer"), "longer does nothing at title_abstract; it belongs to the stages that read reports")


def _check_criteria_style(protocol: Protocol, stage: str, spec: StageSpec, fail: Any) -> None:
    by_criterion = [name for name in spec.readers if protocol.readers[name].style == "criteria"]
    if by_criterion and stage != "full_text":
        fail(("readers", by_criterion[0], "style"), 'style = "criteria" belongs to readers of full_text')
    if by_criterion and spec.policy == "threshold":
        fail(
            ("stages", stage, "policy"),
            f"reader '{by_criterion[0]}' answers by criterion and gives no score; use policy = \"vote\"",
        )
    if spec.logic is None:
        return
    if not by_criterion:
        fail(("stages", stage, "logic"), 'logic needs a reader with style = "criteria"')
    try:
        parse_logic(spec.logic, [criterion.id for criterion in protocol.criteria_for(stage)])
    except ValueError as error:
        fail(("stages", stage, "logic"), str(error))


def _check_unique(names: list[str], table: str, what: str, fail: Any) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            fail((table, index), f"{what} '{name}' is used twice")
