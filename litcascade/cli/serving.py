"""`litcascade desk`: open the desk and print a link for each person."""

import getpass

import typer

from litcascade.cli.show import warn_of_disk
from litcascade.desk.kinds import Rules
from litcascade.desk.opening import Place, open_desk
from litcascade.desk.users import User, parse_users
from litcascade.errors import InputError
from litcascade.pipeline.review import Review


def serve_desk(
    review: Review, users: list[str], double: bool, again_after: float, hours: float, host: str, port: int | None, remote: bool
) -> None:
    """Serve until Ctrl-C."""
    if again_after < 0:
        raise InputError("--again-after is a number of days, 0 or more")
    if port is not None and not 0 <= port <= 65535:
        raise InputError("--port lies between 0 and 65535")
    people = parse_users(users, _own_name())
    if double and sum(user.decides for user in people) < 2:
        raise InputError("--double needs two people who decide: add --user NAME:reviewer for each")
    warn_of_disk(review.folder)
    rules = Rules(double, again_after).under(review.protocol)

    def told(links: list[tuple[User, str]]) -> None:
        if remote:
            typer.echo("WARNING: other machines can reach this desk, and what it sends is not encrypted.", err=True)
        typer.echo(f"The desk of {review.folder} is open; each link is for one person and good for {hours:g} hours.")
        for user, link in links:
            typer.echo(f"  {user.name} ({user.role}): {link}")
        if len(people) > 1 and not any(user.role == "arbiter" for user in people):
            typer.echo("Nobody is arbiter: what people differ on waits until somebody comes in as one.")
        if rules.stages and sum(user.decides for user in people) < 2:
            typer.echo(f"Two people must read each record at {', '.join(sorted(rules.stages))}; only one is here now.")
        typer.echo("Stop it with Ctrl-C: every decision is stored when it is made.")

    place = Place(host, port, remote)
    open_desk(review, people, place=place, rules=rules, hours=hours, on_open=told)
    typer.echo("The desk is closed.")


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "reviewer"
