"""Connections that never leave http and https, and never reach into the own network, whatever an address or redirect says."""

import http.client
import ipaddress
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterable
from functools import partial
from typing import Any

from litcascade.web import DownloadError, shown


class UnsafeError(DownloadError):
    """An address that is not followed."""


class Guard:
    """Which addresses may be asked: public ones, and those of the services a caller has set (as tests do)."""

    def __init__(self, base_urls: Iterable[str] = ()) -> None:
        parts = [urllib.parse.urlsplit(url) for url in base_urls]
        self._given = {(part.hostname, part.port or _usual(part.scheme)) for part in parts}
        self._proxies = {urllib.parse.urlsplit(url).hostname for url in urllib.request.getproxies().values()}

    def check(self, url: str) -> None:
        """Raise `UnsafeError` for another scheme than http(s), and for a host of the own network."""
        try:
            part = urllib.parse.urlsplit(url)
            host, port = part.hostname, part.port or _usual(part.scheme)
        except ValueError:
            raise UnsafeError(f"{shown(url)}: is no address") from None
        if part.scheme not in ("http", "https") or not host:
            raise UnsafeError(f"{shown(url)}: only http and https addresses are followed")
        if (host, port) not in self._given and any(not public(number) for number in _numbers(host, port)):
            raise UnsafeError(f"{shown(url)}: leads into the own network and is not followed")

    def connect(self, address: tuple[str, int], *args: Any) -> socket.socket:
        """`socket.create_connection`, closed with `UnsafeError` where a name led elsewhere than when it was checked."""
        sock = socket.create_connection(address, *args)
        peer = str(sock.getpeername()[0])
        if address not in self._given and address[0] not in self._proxies and not public(peer):
            sock.close()
            raise UnsafeError(f"{address[0]}: leads into the own network and is not followed")
        return sock

    def opener(self) -> urllib.request.OpenerDirector:
        """A fresh opener (cookies of its own) whose every request, redirect and connection is checked."""
        return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(), _Redirects(self), _Http(self), _Https(self))


def public(number: str) -> bool:
    """Whether an IP address is one of the public network."""
    ip = ipaddress.ip_address(number.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    return ip.is_global and not ip.is_multicast


def _numbers(host: str, port: int) -> list[str]:
    """The addresses of a host; none where its name cannot be resolved here (behind a proxy), which the connection tells."""
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        return []


def _usual(scheme: str) -> int:
    return 80 if scheme == "http" else 443


class _Redirects(urllib.request.HTTPRedirectHandler):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        try:
            self._guard.check(newurl)
            if req.full_url.startswith("https:") and not newurl.startswith("https:"):
                raise UnsafeError(f"{shown(req.full_url)}: redirects to an unprotected address, which is not followed")
        except UnsafeError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def http_open(self, req: Any) -> Any:
        return self.do_open(partial(_Connection, guard=self._guard), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def https_open(self, req: Any) -> Any:
        return self.do_open(partial(_SafeConnection, guard=self._guard), req)


class _Connection(http.client.HTTPConnection):
    def __init__(self, *args: Any, guard: Guard, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = guard.connect


class _SafeConnection(http.client.HTTPSConnection):
    def __init__(self, *args: Any, guard: Guard, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = guard.connect
