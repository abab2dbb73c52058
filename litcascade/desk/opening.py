"""Open the desk: the store, a socket on this machine, a link for each person, and a clean end."""

import contextlib
import ipaddress
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from litcascade.desk.desk import Desk
from litcascade.desk.kinds import Rules
from litcascade.desk.users import Door, User
from litcascade.errors import InputError, MissingExtraError
from litcascade.pipeline.review import Review
from litcascade.pipeline.run import require_amendment

USUAL_PORT = 8765


@dataclass(frozen=True)
class Place:
    """Where the desk is served; `port` None: the usual one, or another where that is taken."""

    host: str = "127.0.0.1"
    port: int | None = None
    remote: bool = False


def open_desk(
    review: Review,
    users: Sequence[User],
    *,
    place: Place,
    rules: Rules,
    hours: float,
    on_open: Callable[[list[tuple[User, str]]], None],
) -> None:
    """Serve the desk until it is stopped (Ctrl-C). `on_open` is given the links, one a person.

    A host that is not this machine is an `InputError` unless `place.remote`; a store that another process holds, or of a newer
    version, is a `StoreError`.
    """
    try:
        import jinja2  # noqa: F401
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise MissingExtraError("the desk", "desk") from None
    require_local(place)
    if not 0 < hours <= 24 * 31:
        raise InputError("--hours lies between 0 and 744")
    from litcascade.desk.serving import Pages

    with review.open() as store, listening(place) as listener, ThreadPoolExecutor(1, "store") as worker:
        require_amendment(review, store)
        host, port = place.host, listener.getsockname()[1]
        desk = Desk(review, store, users, rules)
        door = Door(users, hours * 3600, time.monotonic)
        app = Pages(desk, door, worker).app(names_of(host, port))
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, lifespan="off", server_header=False, timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=65536,
        )  # fmt: skip
        shown = f"[{host}]" if ":" in host else host
        on_open([(user, f"http://{shown}:{port}/enter?token={door.tokens[user.name]}") for user in users])
        with contextlib.suppress(ValueError):  # outside the main thread nobody sends signals
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with contextlib.suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[listener])
        finally:
            worker.submit(desk.close).result()


def require_local(place: Place) -> None:
    """Refuse an address that other machines can reach, unless it was asked for."""
    if place.host == "localhost":
        return
    if place.host in ("0.0.0.0", "::", "*", ""):
        raise InputError(f"--host {place.host}: name the one address that the others use; the desk answers under no other")
    if place.remote:
        return
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(place.host).is_loopback:
            return
    raise InputError(
        f"--host {place.host}: other machines could reach the desk there, and its links travel without encryption; use an SSH "
        "tunnel to 127.0.0.1, or add --allow-remote where the network is yours"
    )


def names_of(host: str, port: int) -> list[str]:
    """The Host headers that the desk answers to."""
    names = {f"[{host}]" if ":" in host else host}
    if host in ("127.0.0.1", "localhost"):
        names |= {"127.0.0.1", "localhost"}
    return [f"{name}:{port}" for name in sorted(names)]


@contextlib.contextmanager
def listening(place: Place) -> Iterator[socket.socket]:
    """A socket that listens at the place; a port that was named and cannot be used is an `InputError`."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:  # named, so that asyncio sends at once
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((place.host, USUAL_PORT if place.port is None else place.port))
        except OSError as error:
            if place.port is not None:
                raise InputError(
                    f"--port {place.port}: cannot be used on {place.host} ({error.strerror}); name another"
                ) from None
            listener.bind((place.host, 0))
        listener.listen(128)
        yield listener
