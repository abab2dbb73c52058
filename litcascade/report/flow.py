"""The PRISMA 2020 flow diagram: boxes with counts, whether they sum, and the drawing."""

from dataclasses import dataclass

from litcascade.report.svg import FONT, INK, drawing, label, text_of, wrapped
from litcascade.report.tables import Table

TIP = "flow-tip"
WIDTH, BAR, MAIN, SIDE, BOX, GAP, LINE = 800, 34, 52, 430, 356, 26, 19


@dataclass(frozen=True)
class Box:
    """A box: `parts` sum to `count`; `told` are further counts that do not. `waits`: nobody decided these yet."""

    title: str
    count: int
    parts: tuple[tuple[str, int], ...] = ()
    told: tuple[tuple[str, int], ...] = ()
    waits: bool = False


@dataclass(frozen=True)
class Step:
    """A box of the main line, and the boxes that leave it."""

    phase: str
    box: Box
    out: tuple[Box, ...] = ()


@dataclass(frozen=True)
class Flow:
    """The steps from what was found to what is included."""

    steps: tuple[Step, ...]

    def faults(self) -> list[str]:
        """Every sum that does not come out, in words; none where the boxes close."""
        found = []
        for step, after in zip(self.steps, [*self.steps[1:], None], strict=True):
            for box in (step.box, *step.out):
                inside = sum(count for _, count in box.parts)
                if box.parts and inside != box.count:
                    found.append(f"'{box.title}' holds {box.count}, its parts sum to {inside}")
            leaves = sum(box.count for box in step.out)
            goes_on = after.box.count if after else None
            if goes_on is not None and step.box.count != leaves + goes_on:
                found.append(f"'{step.box.title}' holds {step.box.count}, but {leaves} leave it and {goes_on} go on")
        return found

    def sums(self) -> list[str]:
        """Each sum of the main line, for people to check."""
        return [
            f"{step.box.title}: {step.box.count} = "
            + " + ".join(f"{box.count} {box.title[0].lower()}{box.title[1:]}" for box in step.out)
            + (" + " if step.out else "")
            + f"{after.box.count} that go on"
            for step, after in zip(self.steps, self.steps[1:], strict=False)
        ]

    def table(self) -> Table:
        """Every box and part as a row."""
        rows: list[list[object]] = []
        for step in self.steps:
            for place, box in [("on", step.box), *(("out", box) for box in step.out)]:
                rows.append([step.phase, place, box.title, None, box.count])
                rows += [[step.phase, place, box.title, name, count] for name, count in (*box.parts, *box.told)]
        return Table("Boxes of the flow diagram", ["phase", "goes", "box", "of these", "count"], rows)


@dataclass(frozen=True)
class _Laid:
    box: Box
    lines: tuple[str, ...]

    @property
    def height(self) -> float:
        return len(self.lines) * LINE + 20


def flow_svg(flow: Flow, title: str = "PRISMA 2020 flow diagram") -> str:
    """The diagram; boxes of what waits are dashed. Its description holds all counts."""
    parts: list[str] = [
        f'<defs><marker id="{TIP}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L10 5L0 10z" fill="#333"/></marker></defs>'
    ]
    y = 10.0
    phases: list[tuple[str, float, float]] = []
    previous: float | None = None
    for step in flow.steps:
        main, side = _laid(step.box), [_laid(box) for box in step.out]
        tall = max(main.height, sum(one.height for one in side) + 10 * max(0, len(side) - 1))
        if sum(other.phase == step.phase for other in flow.steps) == 1:
            tall = max(tall, len(step.phase) * FONT * 0.68)
        parts += _box(main, MAIN, y)
        if previous is not None:
            parts.append(_arrow(MAIN + 60, previous, MAIN + 60, y))
        at = y
        for one in side:
            parts += _box(one, SIDE, at)
            level = min(at + one.height / 2, y + main.height - 10) if one is side[0] else at + one.height / 2
            parts += _side_arrow(level, y + main.height, at + one.height / 2)
            at += one.height + 10
        if phases and phases[-1][0] == step.phase:
            phases[-1] = step.phase, phases[-1][1], y + tall
        else:
            phases.append((step.phase, y, y + tall))
        previous = y + main.height
        y += tall + GAP
    parts += [drawn for phase in phases for drawn in _phase(*phase)]
    told = "; ".join(
        f"{step.box.title} {step.box.count}" + "".join(f", {b.title} {b.count}" for b in step.out) for step in flow.steps
    )
    return drawing(WIDTH, y - GAP + 10, title, told, parts)


def _laid(box: Box) -> _Laid:
    width = BOX - 24
    lines = wrapped(f"{box.title} (n = {box.count:,})", width, bold=True)
    for name, count in (*box.parts, *box.told):
        first, *rest = wrapped(f"{name} (n = {count:,})", width - 16)
        lines += ["  " + first, *("  " + line for line in rest)]
    return _Laid(box, tuple(lines))


def _box(laid: _Laid, x: float, y: float) -> list[str]:
    look = f'fill="#fff7e6" stroke="{INK[1]}" stroke-dasharray="6 3"' if laid.box.waits else 'fill="#fff" stroke="#333"'
    parts = [f'<rect x="{x}" y="{y:.1f}" width="{BOX}" height="{laid.height:.1f}" rx="3" stroke-width="1.5" {look}/>']
    bold = len(wrapped(f"{laid.box.title} (n = {laid.box.count:,})", BOX - 24, bold=True))
    for number, line in enumerate(laid.lines):
        indent = 28 if line.startswith("  ") else 12
        more = 'font-weight="600"' if number < bold else ""
        parts.append(label(x + indent, y + 24 + number * LINE, line.strip(), more=more))
    return parts


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#333" stroke-width="1.5" marker-end="url(#{TIP})"/>'


def _side_arrow(level: float, floor: float, target: float) -> list[str]:
    """From the main box to a box beside it; to one that stands lower than the main box by a bent line."""
    if level <= floor:
        return [_arrow(MAIN + BOX, level, SIDE, level)]
    start, bend = floor - 10, MAIN + BOX + 11
    path = f"M{MAIN + BOX} {start:.1f}H{bend}V{target:.1f}H{SIDE}"
    return [f'<path d="{path}" fill="none" stroke="#333" stroke-width="1.5" marker-end="url(#{TIP})"/>']


def _phase(name: str, top: float, bottom: float) -> list[str]:
    middle = (top + bottom) / 2
    return [
        f'<rect x="8" y="{top:.1f}" width="{BAR}" height="{bottom - top:.1f}" rx="4" fill="#dbe8f2"/>',
        f'<text transform="translate(30 {middle:.1f}) rotate(-90)" text-anchor="middle" font-weight="600">{text_of(name)}</text>',
    ]
