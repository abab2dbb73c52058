"""The command line in a bad hour: a wall clock that jumps, or a process that ends by SIGKILL at its n-th file operation.

`python tests/support/chaos_command.py WAY ARGUMENTS…`, where WAY is `clock=HOURS,HOURS,…` (shifts taken in turn, a quarter of a
second each) or `dies=N`. Nothing of this reaches into the program: only the standard library's clock and files are replaced.
"""

import datetime as dates
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

TURN = 0.25


def shift_clock(hours: list[float]) -> None:
    """Let `time.time` and `datetime.now` jump; the monotonic clock goes on as it is."""
    real, real_ns, began = time.time, time.time_ns, time.monotonic()

    def off() -> float:
        return 3600.0 * hours[int((time.monotonic() - began) / TURN) % len(hours)]

    class Shifted(dates.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return dates.datetime.fromtimestamp(real() + off(), tz)

    time.time = lambda: real() + off()
    time.time_ns = lambda: real_ns() + int(off() * 10**9)
    dates.datetime = Shifted  # type: ignore[misc]


def die_at(number: int) -> None:
    """End by SIGKILL right before the n-th time that a file is forced to the disk, named, or deleted."""
    left = [number]

    def counted(real: Any) -> Any:
        def called(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **named)

        return called

    os.fsync = counted(os.fsync)
    Path.replace = counted(Path.replace)  # type: ignore[method-assign]
    Path.unlink = counted(Path.unlink)  # type: ignore[method-assign]


if __name__ == "__main__":
    way, _, how = sys.argv.pop(1).partition("=")
    sys.path[0] = str(Path(__file__).parents[2])
    if way == "clock":
        shift_clock([float(hours) for hours in how.split(",")])
    else:
        die_at(int(how))
    from litcascade.cli import main

    main()
