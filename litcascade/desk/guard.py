"""What stands before every page: the Host header, the size of what is sent, and headers that keep a page to itself."""

from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_LIMIT = 1_000_000  # bytes of one filled-in form
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Refuses other Host names (else a page elsewhere could speak to this server), foreign origins and large bodies."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self.app = app
        self.hosts = {host.casefold() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is in order."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        out = _with_headers(send, static=scope["path"].startswith("/static/"))
        fault = self._fault(headers, scope["method"])
        if fault:
            status, words = fault
            await PlainTextResponse(words, status)(scope, receive, out)
            return
        await self.app(scope, _limited(receive), out)

    def _fault(self, headers: Headers, method: str) -> tuple[int, str] | None:
        host = headers.get("host", "").casefold()
        if host not in self.hosts:
            return 421, "This desk answers only under the address that its link names."
        if method not in ("GET", "HEAD", "POST"):
            return 405, "This desk knows GET and POST alone."
        origin = headers.get("origin")
        if method == "POST" and origin is not None and origin.partition("://")[2].casefold() != host:
            return 403, "This form came from another site and was not taken."
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > BODY_LIMIT:
            return 413, "What was sent is too large for a form of this desk."
        return None


def _limited(receive: Receive) -> Receive:
    """Bodies without a declared length are cut off too."""
    seen = 0

    async def read() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return {"type": "http.disconnect"} if seen > BODY_LIMIT else message

    return read


def _with_headers(send: Send, *, static: bool) -> Send:
    async def out(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers["Cache-Control"] = "no-cache" if static else "no-store"
        await send(message)

    return out
