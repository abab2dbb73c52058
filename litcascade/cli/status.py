"""`litcascade status`: apart from all that runs models, so that it answers at once."""

import time
from typing import Any

import typer

from litcascade.cli.show import print_json, print_tables
from litcascade.errors import StoreError
from litcascade.pipeline.counters import prometheus
from litcascade.pipeline.events import read_events
from litcascade.pipeline.ledger import ledger_table, read_ledger, reasons_table
from litcascade.pipeline.review import Review
from litcascade.pipeline.shards.looking import job_states, job_tables

EVERY = 2.0


def watch_status(review: Review, json_out: bool, every: float = EVERY) -> None:
    """Show the status anew every so many seconds until no run holds the review; at least once."""
    while show_status(review, json_out):
        time.sleep(every)


def show_status(review: Review, json_out: bool) -> bool:
    """The ledger from the store, or the progress of the run that holds it; and where jobs stand, from their receipts.

    Returns whether a run holds the review.
    """
    events = read_events(review.events_path)
    jobs = job_states(review.folder)
    try:
        with review.open(read_only=True) as store:
            ledger = read_ledger(store, review.protocol)
    except StoreError as error:
        if "another process" not in str(error):
            raise
        shown = [event for event in events if event["event"] != "engine"]
        last = shown[-1] if shown else {"event": "none"}
        if json_out:
            print_json({"running": True, "last event": last, "jobs": jobs})
        else:
            words = ", ".join(f"{name} {value}" for name, value in last.items() if name not in ("event", "at"))
            typer.echo(f"a run holds the review; last event: {last['event']} ({words}) at {str(last.get('at', ''))[:19]}")
            for load in _engines(events):
                typer.echo(f"  {load}")
            print_tables(job_tables(jobs))
        return True
    ended = next((event for event in reversed(events) if event["event"] == "run ended"), None)
    if json_out:
        print_json({"running": False, "ledger": ledger, "last run": ended, "jobs": jobs})
        return False
    reasons = reasons_table(ledger)
    print_tables([ledger_table(ledger), *([reasons] if reasons else []), *job_tables(jobs)])
    if ended:
        typer.echo(f"last run {str(ended['at'])[:16]}: {ended['status']}: {ended['detail']}")
    return False


def show_counters(review: Review) -> None:
    """The last run's counters as Prometheus reads them; the store is not opened."""
    typer.echo(prometheus(read_events(review.events_path), job_states(review.folder)), nl=False)


def _engines(events: list[dict[str, Any]]) -> list[str]:
    """The last that each engine told of itself in the run that goes on."""
    begun = max((place for place, event in enumerate(events) if event["event"] == "run started"), default=0)
    last = {event["url"]: event for event in events[begun:] if event["event"] == "engine"}
    told = []
    for url, event in last.items():
        used = event.get("cache_used")
        room = f", {used:.0%} of its cache in use" if used is not None else ""
        told.append(f"{url}: {event.get('running', 0)} running, {event.get('waiting', 0)} waiting{room}")
    return told
