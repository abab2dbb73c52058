"""Addresses and pages: thin handlers between browsers and the desk."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from litcascade.desk.deciding import filled
from litcascade.desk.desk import PAGE, Desk
from litcascade.desk.guard import Guard
from litcascade.desk.keys import whole_number
from litcascade.desk.kinds import queue_named
from litcascade.desk.users import Door, Session, same
from litcascade.errors import InputError, LitcascadeError, StoreError
from litcascade.schemas.fields.writing import schema_toml

COOKIE = "desk"  # with the port, as browsers share cookies between the ports of a host
FIELDS = 2000  # of a form, beside four for each field of the schema
STATIC = Path(__file__).parent / "static"
T = TypeVar("T")
Handler = Callable[[Request, Session], Awaitable[Response]]


class Pages:
    """The pages of one desk. Everything that touches the store runs on the one thread of `worker`, never in the event loop."""

    def __init__(self, desk: Desk, door: Door, worker: Executor) -> None:
        self.desk = desk
        self.door = door
        self.worker = worker
        self.templates = Environment(
            loader=PackageLoader("litcascade.desk"), autoescape=True, auto_reload=False, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self.cookie = COOKIE
        self.templates.globals |= {
            "review_mark": sha256(str(desk.review.folder.resolve()).encode()).hexdigest()[:12],
            "title_of": desk.review.protocol.review.title,
            "address": address,
            "rules": desk.rules,
            "toml": schema_toml,
        }

    def app(self, hosts: Sequence[str]) -> ASGIApp:
        """The application, answering under these Host names alone."""
        self.cookie = f"{COOKIE}-{hosts[0].rpartition(':')[2]}"
        routes = [
            Route("/enter", self.enter, methods=["GET"]),
            Route("/", self._guarded(self.home), methods=["GET"]),
            Route("/queue/{name}", self._guarded(self.item), methods=["GET"]),
            Route("/queue/{name}", self._guarded(self.decide), methods=["POST"]),
            Route("/list/{name}", self._guarded(self.listing), methods=["GET"]),
            Route("/progress", self._guarded(self.progress), methods=["GET"]),
            Route("/keys", self._guarded(self.keys), methods=["GET"]),
            Route("/undo", self._guarded(self.undo), methods=["POST"]),
            Route("/take-back", self._guarded(self.take_back), methods=["POST"]),
            Route("/join", self._guarded(self.join), methods=["POST"]),
            Route("/freeze", self._guarded(self.freeze), methods=["POST"]),
            Route("/go-on", self._guarded(self.go_on), methods=["POST"]),
            Route("/leave", self._guarded(self.leave), methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        handlers: Any = {
            400: self._bad, 404: self._missing, 405: self._missing,
            InputError: self._input, StoreError: self._store, Exception: self._failed,
        }  # fmt: skip
        return Guard(Starlette(routes=routes, exception_handlers=handlers), hosts)

    async def enter(self, request: Request) -> Response:
        """Come in by a link; the page that answers leads on, so that a strict cookie goes along from wherever the link stood."""
        entered = self.door.enter(request.query_params.get("token", ""))
        if entered is None:
            return self._refused("This link is unknown or has expired. Ask whoever started the desk for a new one.")
        key, session = entered
        response = self._page("enter.html", session, status=200)
        response.set_cookie(self.cookie, key, httponly=True, samesite="strict", path="/")
        return response

    async def home(self, request: Request, session: Session) -> Response:
        """The queues."""
        queues = await self._in_thread(self.desk.home, session.user)
        said = await self._in_thread(self.desk.unfrozen)
        return self._page("home.html", session, queues=queues, pairs=self.desk.words_on_pairs, unfrozen=said)

    async def item(self, request: Request, session: Session) -> Response:
        """One item of a queue: the one that is named, else the next."""
        return await self._item(request.path_params["name"], request.query_params.get("key"), session)

    async def _item(
        self, name: str, key: str | None, session: Session, *, fault: str | None = None, form: dict[str, str] | None = None
    ) -> Response:
        view = await self._in_thread(self.desk.show, name, key, session)
        if view.screen is None:
            return self._page("dry.html", session, queue=view.queue)
        return self._page(
            f"{view.queue.screen}.html", session, status=422 if fault else 200, queue=view.queue, left=view.left,
            screen=view.screen, fault=fault, form=defaultdict(str, form or {}), form_key=new_form(),
        )  # fmt: skip

    async def decide(self, request: Request, session: Session) -> Response:
        """Store a decision and go to the next item; a form at fault comes back as it was filled in."""
        form = await self._form(request, session)
        name, key = request.path_params["name"], form.get("key", "")
        queue_named(name)
        try:
            session.told = await self._in_thread(self.desk.decide, name, key, form, session)
        except InputError as error:
            return await self._item(name, key, session, fault=str(error), form=form)
        following = await self._in_thread(self.desk.next_key, name, session)
        return _see(address(f"/queue/{name}", key=following) if following else f"/queue/{name}")

    async def listing(self, request: Request, session: Session) -> Response:
        """A page of a queue as a list."""
        word = request.query_params.get("page", "1")
        page = min(whole_number(word) or 1, 999_999)
        queue, items, left = await self._in_thread(self.desk.listing, request.path_params["name"], session.user, page)
        return self._page("list.html", session, queue=queue, items=items, left=left, page=page, pages=max(1, -(-left // PAGE)))

    async def progress(self, request: Request, session: Session) -> Response:
        """How far the work is."""
        return self._page("progress.html", session, standing=await self._in_thread(self.desk.standing, session.user))

    async def keys(self, request: Request, session: Session) -> Response:
        """The keys, and how the desk works."""
        return self._page("keys.html", session)

    async def undo(self, request: Request, session: Session) -> Response:
        """Undo one's last decision and show its item again."""
        await self._form(request, session)
        session.told, name, key = await self._in_thread(self.desk.undo, session)
        return _see(address(f"/queue/{name}", key=key))

    async def take_back(self, request: Request, session: Session) -> Response:
        """Take back a row of one's own from a record's history."""
        form = await self._form(request, session)
        seq, name, key = whole_number(form.get("seq", "")), form.get("queue", ""), form.get("key", "")
        queue_named(name)
        if seq is None:
            raise InputError("this decision is not in the store; nothing was changed")
        session.told = await self._in_thread(self.desk.take_back, form.get("kind", ""), seq, key, session)
        return _see(address(f"/queue/{name}", key=key))

    async def join(self, request: Request, session: Session) -> Response:
        """Work in what people said of pairs."""
        await self._form(request, session)
        session.told = await self._in_thread(self.desk.join_pairs, session.user)
        return _see("/")

    async def freeze(self, request: Request, session: Session) -> Response:
        """Freeze a version of the schema."""
        await self._form(request, session)
        session.told = await self._in_thread(self.desk.freeze, session.user)
        return _see("/")

    async def go_on(self, request: Request, session: Session) -> Response:
        """Let the run go on."""
        await self._form(request, session)
        session.told = await self._in_thread(self.desk.go_on, session.user)
        return _see("/progress")

    async def leave(self, request: Request, session: Session) -> Response:
        """End this browser's session."""
        await self._form(request, session)
        self.door.leave(request.cookies.get(self.cookie))
        response = self._refused("You have left the desk. Your link brings you back until it expires.", status=200)
        response.delete_cookie(self.cookie, path="/", httponly=True, samesite="strict")
        return response

    def _guarded(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            session = self.door.session(request.cookies.get(self.cookie))
            if session is None:
                return self._refused("Come in by your link: this browser has none here, or its time is over. "
                                     "Whatever you decided before is stored.")  # fmt: skip
            request.state.session = session
            return await handler(request, session)

        return answer

    async def _form(self, request: Request, session: Session) -> dict[str, str]:
        """The fields of a form that carries this session's token."""
        try:
            async with request.form(
                max_files=0, max_fields=FIELDS + 4 * len(self.desk.review.protocol.fields), max_part_size=300_000
            ) as given:
                form = filled(dict(given))
        except ClientDisconnect:
            raise InputError("the form did not arrive whole; nothing was stored") from None
        if not same(form.get("csrf"), session.csrf):
            raise InputError(
                "this form is not of your session (was the desk started anew?); load the page again and decide again"
            )
        return form

    async def _in_thread(self, call: Callable[..., T], *given: Any) -> T:
        """Run on the store's thread; once begun it is finished, even where the browser goes away."""
        loop = asyncio.get_running_loop()
        return await asyncio.shield(loop.run_in_executor(self.worker, call, *given))

    def _page(self, template: str, session: Session, *, status: int = 200, **content: Any) -> Response:
        told, session.told = session.told, None
        stored, session.stored = session.stored and session.user.decides, False
        page = self.templates.get_template(template)
        return HTMLResponse(page.render(user=session.user, csrf=session.csrf, told=told, stored=stored, **content), status)

    def _refused(self, words: str, status: int = 403) -> Response:
        return HTMLResponse(
            self.templates.get_template("refused.html").render(user=None, csrf="", told=None, stored=False, words=words), status
        )

    def _told(self, request: Request, words: str, status: int) -> Response:
        session = getattr(request.state, "session", None)
        if session is None:
            return self._refused(words, status)
        return self._page("fault.html", session, status=status, words=words)

    async def _bad(self, request: Request, _: Exception) -> Response:
        return self._told(request, "The form cannot be read, or holds too many fields; nothing was stored.", 400)

    async def _missing(self, request: Request, _: Exception) -> Response:
        return self._told(request, "There is no such page on this desk.", 404)

    async def _input(self, request: Request, error: LitcascadeError) -> Response:
        return self._told(request, _sentence(error), 404 if request.method == "GET" else 422)

    async def _store(self, request: Request, error: LitcascadeError) -> Response:
        return self._told(request, _sentence(error), 500)

    async def _failed(self, request: Request, _: Exception) -> Response:
        return self._told(
            request, "The desk failed on this page; what was stored before is safe. Load it again, or skip the item.", 500
        )


def address(path: str, **query: str | int) -> str:
    """A path with its query, every part quoted."""
    return f"{path}?{urlencode(query)}" if query else path


def new_form() -> str:
    """A key that marks one page's form, so that sending it twice stores it once."""
    from uuid import uuid4

    return uuid4().hex


def _see(where: str) -> Response:
    return RedirectResponse(where, 303)


def _sentence(error: Exception) -> str:
    words = str(error)
    return f"{words[:1].upper()}{words[1:]}."
