"""Jobs that a killed run left: what their workers had posted is merged by whatever run comes next, with Ray or without."""

from collections.abc import Iterator

from litcascade.errors import InputError
from litcascade.pipeline.observing import Observer
from litcascade.pipeline.review import Review
from litcascade.pipeline.shards.job import JobFolder, jobs_of
from litcascade.pipeline.shards.merging import Merged, merge_job
from litcascade.pipeline.shards.parts import verified
from litcascade.store import Store, now

BY = "ray"
ASIDE = ".unreadable"  # ends the name of a part that was found damaged


def take_up(review: Review, store: Store, observer: Observer) -> None:
    """Merge what workers had posted for runs that were killed, and say what came of it.

    What such a job left undone is cut or asked anew, so it is marked as merged; unless parts were refused that are not damaged
    (a newer litcascade wrote them): these are said at every run until they are merged.
    """
    for folder in jobs_of(review.folder):
        try:
            job = folder.read()
            if job.by == BY and job.merged is None:
                _merge(review, store, folder, observer)
        except InputError as error:
            if folder.path.name.startswith(f"{BY}-"):
                observer.say(f"what an earlier run left in {folder.path} is not merged: {error}")


def _merge(review: Review, store: Store, folder: JobFolder, observer: Observer) -> None:
    merged = merge_job(review, store, folder, any_version=True)
    calls, verdicts = merged.added["calls"], merged.added["verdicts"]
    if calls or verdicts:
        observer.say(
            f"a run that was cut off left {calls} reply(ies) and {verdicts} verdict(s) in {folder.path}: they are merged"
        )
    for line in [*refusals(folder, merged), *set_aside(folder), *left_out(merged)]:
        observer.say(line)
    if mendable(folder, merged):
        observer.say(
            f"{folder.path} stays unmerged until they can be read; delete it to have its records asked again without them"
        )
    else:
        mark(folder)


def refusals(folder: JobFolder, merged: Merged) -> Iterator[str]:
    """A line for each file that was refused."""
    for path, why in merged.refused:
        yield f"{folder.path / path}: {why}"


def set_aside(folder: JobFolder) -> Iterator[str]:
    """A line for each part that a worker found damaged."""
    for path in sorted(folder.path.glob(f"out/*/part-*{ASIDE}")):
        yield f"{path}: was damaged and is set aside; what it held is asked again"


def left_out(merged: Merged) -> Iterator[str]:
    """A line for each reason why verdicts were left out."""
    for why, count in merged.left_out.items():
        yield f"{count} verdict(s) of the job '{merged.job}' were left out: {why}"


def mendable(folder: JobFolder, merged: Merged) -> bool:
    """Whether something was refused that is not simply damaged or gone: it can be merged another day."""
    return any(not path.endswith(".parquet") or verified(folder.path / path) is not None for path, _ in merged.refused)


def mark(folder: JobFolder) -> None:
    """Mark a job as merged: what it left undone is cut anew."""
    job = folder.read()
    if job.merged is None:
        folder.write(job.model_copy(update={"merged": now()}))
