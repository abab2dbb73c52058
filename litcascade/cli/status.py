"""`litcascade status`: apart from all that runs models, so that it answers at once."""

import typer

from litcascade.cli.show import print_json, print_tables
from litcascade.errors import StoreError
from litcascade.pipeline.events import read_events
from litcascade.pipeline.ledger import ledger_table, read_ledger, reasons_table
from litcascade.pipeline.review import Review


def show_status(review: Review, json_out: bool) -> None:
    """The ledger from the store, or the progress of the run that holds it."""
    events = read_events(review.events_path)
    try:
        with review.open(read_only=True) as store:
            ledger = read_ledger(store, review.protocol)
    except StoreError as error:
        if "another process" not in str(error):
            raise
        last = events[-1] if events else {"event": "none"}
        if json_out:
            print_json({"running": True, "last event": last})
        else:
            words = ", ".join(f"{name} {value}" for name, value in last.items() if name not in ("event", "at"))
            typer.echo(f"a run holds the review; last event: {last['event']} ({words}) at {str(last.get('at', ''))[:19]}")
        return
    ended = next((event for event in reversed(events) if event["event"] == "run ended"), None)
    if json_out:
        print_json({"running": False, "ledger": ledger, "last run": ended})
        return
    reasons = reasons_table(ledger)
    print_tables([ledger_table(ledger), *([reasons] if reasons else [])])
    if ended:
        typer.echo(f"last run {str(ended['at'])[:16]}: {ended['status']}: {ended['detail']}")
