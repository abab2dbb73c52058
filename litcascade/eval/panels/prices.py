"""What a rule costs: records that people read, their hours, tokens, GPU seconds and money, from declared prices."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate
from litcascade.eval.panels.counts import Bools, Floats
from litcascade.schemas import Frozen

Unit = Literal["read", "hours", "tokens", "gpu_seconds", "money"]
UNITS: tuple[Unit, ...] = ("read", "hours", "tokens", "gpu_seconds", "money")


class ReaderPrice(Frozen):
    """One reading: tokens and GPU seconds of a model, or minutes of a person who is a reader. None: not declared."""

    tokens: float | None = Field(default=None, ge=0)
    gpu_seconds: float | None = Field(default=None, ge=0)
    minutes: float = Field(default=0.0, ge=0)


class Prices(Frozen):
    """Declared prices. What is not declared leaves the figures that need it undefined; nothing is taken for free.

    `minutes_per_record`: a person reading one predicted positive. The last three turn all into one currency.
    """

    readers: Mapping[str, ReaderPrice] = Field(default_factory=dict)
    minutes_per_record: float | None = Field(default=None, ge=0)
    per_hour: float | None = Field(default=None, ge=0)
    per_million_tokens: float | None = Field(default=None, ge=0)
    per_gpu_hour: float | None = Field(default=None, ge=0)


class Costs(Frozen):
    """What a rule costs on so many records; undefined figures say which price is missing."""

    read: Estimate
    hours: Estimate
    tokens: Estimate
    gpu_seconds: Estimate
    money: Estimate


Priced = Mapping[Unit, Floats | str]


def priced(read: Floats, calls: Floats, readers: Sequence[str], prices: Prices) -> Priced:
    """All figures of C rules at once: an array of C for each unit, or the reason why there is none.

    `read` has C predicted positives, `calls` is C x readers. hours = read x minutes / 60, persons who are readers added.
    """
    of = [prices.readers.get(name, ReaderPrice()) for name in readers]
    used = np.asarray(calls.sum(axis=0) > 0)
    found: dict[Unit, Floats | str] = {"read": read}
    if prices.minutes_per_record is None:
        found["hours"] = "no price: minutes_per_record is not declared"
    else:
        found["hours"] = (read * prices.minutes_per_record + calls @ np.array([one.minutes for one in of])) / 60
    found["tokens"] = _of_readers(calls, used, readers, [one.tokens for one in of], "tokens")
    found["gpu_seconds"] = _of_readers(calls, used, readers, [one.gpu_seconds for one in of], "gpu_seconds")
    found["money"] = _money(found, prices)
    return found


def _of_readers(
    calls: Floats, used: Bools, readers: Sequence[str],
    each: Sequence[float | None], what: str,
) -> Floats | str:  # fmt: skip
    lacking = [name for name, price, asked in zip(readers, each, used, strict=True) if price is None and asked]
    if lacking:
        return f"no price: {what} of {', '.join(lacking)} not declared"
    total: Floats = calls @ np.array([price or 0.0 for price in each])
    return total


def _money(found: Priced, prices: Prices) -> Floats | str:
    parts: tuple[tuple[Unit, float | None, float, str], ...] = (
        ("hours", prices.per_hour, 1.0, "per_hour"),
        ("tokens", prices.per_million_tokens, 1e6, "per_million_tokens"),
        ("gpu_seconds", prices.per_gpu_hour, 3600.0, "per_gpu_hour"),
    )
    total: Floats = np.zeros(1)
    for unit, rate, per, name in parts:
        figure = found[unit]
        if rate is None:
            return f"no price: {name} is not declared"
        if rate and isinstance(figure, str):
            return figure
        if rate and not isinstance(figure, str):
            total = total + figure * rate / per
    return np.broadcast_to(total, np.shape(found["read"])).astype(float)


def costs_at(figures: Priced, index: int, records: int, scale: float = 1.0) -> Costs:
    """The costs of one rule, times `scale` (records it will be applied to over records it was counted on)."""
    made = {}
    for unit in UNITS:
        figure = figures[unit]
        undefined = isinstance(figure, str)
        made[unit] = Estimate(
            metric=unit,
            value=None if isinstance(figure, str) else float(figure[index]) * scale,
            n=records,
            note=figure if undefined else None,
        )
    return Costs(**made)


def wanted(figures: Priced, unit: Unit) -> Floats:
    """The figures of one unit; where its price is missing, an `InputError` that says which."""
    figure = figures[unit]
    if isinstance(figure, str):
        raise InputError(f"{unit} cannot be minimised: {figure}")
    return figure
