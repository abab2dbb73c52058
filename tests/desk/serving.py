"""A desk that is served on a free port of this machine, for tests that come in by HTTP or by a browser."""

import re
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import uvicorn

from litcascade.desk.desk import Desk
from litcascade.desk.kinds import Rules
from litcascade.desk.opening import Place, listening, names_of
from litcascade.desk.serving import Pages
from litcascade.desk.users import Door, User
from tests.desk.making import PEOPLE
from tests.support.reviews import ReviewFolder


@dataclass
class Served:
    """A running desk: its address, a link for each person, and a clock that tests may put forward."""

    base: str
    desk: Desk
    door: Door
    now: list[float]
    clients: list[httpx.Client] = field(default_factory=list)

    def link(self, user: User) -> str:
        return f"{self.base}/enter?token={self.door.tokens[user.name]}"


@contextmanager
def served(folder: ReviewFolder, rules: Rules | None = None, users: Sequence[User] = PEOPLE) -> Iterator[Served]:
    review, now = folder.review, [0.0]
    with review.open() as store, listening(Place(port=0)) as listener, ThreadPoolExecutor(1) as worker:
        port = listener.getsockname()[1]
        desk, door = Desk(review, store, users, rules or Rules()), Door(users, 3600, lambda: now[0])
        app = Pages(desk, door, worker).app(names_of("127.0.0.1", port))
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=2))
        made = Served(f"http://127.0.0.1:{port}", desk, door, now)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield made
        finally:
            for client in made.clients:
                client.close()
            server.should_exit = True
            thread.join(10)
            worker.submit(desk.close).result()


class Browser:
    """A browser without JavaScript: it follows links and fills in forms."""

    def __init__(self, desk: Served, user: User | None) -> None:
        self.http = httpx.Client(base_url=desk.base, follow_redirects=True, trust_env=False)
        desk.clients.append(self.http)
        self.page = self.http.get(desk.link(user)) if user else self.http.get("/")
        if user:
            self.get("/")

    def get(self, path: str) -> httpx.Response:
        self.page = self.http.get(path)
        return self.page

    def fields(self) -> dict[str, str]:
        """The hidden fields of the page's main form."""
        form = self.page.text.partition('class="decide')[2] or self.page.text
        return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))

    def send(self, path: str, **given: str) -> httpx.Response:
        self.page = self.http.post(path, data={**self.fields(), **given})
        return self.page
