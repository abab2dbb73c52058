"""Who may come in: named links with roles, sessions, and the token that every form carries."""

import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from litcascade.errors import InputError

Role = Literal["reviewer", "arbiter", "viewer"]
ROLES: tuple[Role, ...] = ("reviewer", "arbiter", "viewer")
NAME_LENGTH = 60
SESSIONS_EACH = 20  # of one person; the oldest ends where there are more


@dataclass(frozen=True)
class User:
    """A person at the desk: a reviewer decides, an arbiter also settles conflicts, a viewer only looks."""

    name: str
    role: Role

    @property
    def decides(self) -> bool:
        """Whether this person may store decisions."""
        return self.role != "viewer"


@dataclass
class Session:
    """One browser that came in by a link: until when, the token of its forms, what is told next (`stored`: of a decision)."""

    user: User
    ends: float
    csrf: str
    skipped: dict[str, None] = field(default_factory=dict)
    told: str | None = None
    stored: bool = False


def parse_users(words: Sequence[str], default: str) -> list[User]:
    """Users from `NAME:ROLE` (default: reviewer); without any, the person at this computer as arbiter.

    An empty or odd name, an unknown role, or a name given twice is an `InputError`.
    """
    if not words:
        return [User(default, "arbiter")]
    users: list[User] = []
    for word in words:
        name, _, role = word.partition(":")
        name = name.strip()
        chosen = next((one for one in ROLES if one == (role.strip() or "reviewer")), None)
        if chosen is None:
            raise InputError(f"--user {word}: '{role}' is no role; use {', '.join(ROLES)}")
        if not name or len(name) > NAME_LENGTH or re.search(r"[\x00-\x1f+]", name):
            raise InputError(f"--user {word}: a name has 1 to {NAME_LENGTH} characters and no plus sign")
        if name.casefold() in {user.name.casefold() for user in users}:
            raise InputError(f"--user {word}: the name is given twice; each person has one link")
        users.append(User(name, chosen))
    return users


class Door:
    """Hands out one link a person and knows the browsers that came in; tokens are kept as digests, in memory alone."""

    def __init__(self, users: Sequence[User], seconds: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ends = clock() + seconds
        self._links: dict[str, User] = {}
        self._sessions: dict[str, Session] = {}
        self.tokens = {user.name: self._link(user) for user in users}

    def _link(self, user: User) -> str:
        token = secrets.token_urlsafe(32)
        self._links[_digest(token)] = user
        return token

    def enter(self, token: str) -> tuple[str, Session] | None:
        """A new session for the holder of a link; None where the link is unknown or has expired."""
        user = self._links.get(_digest(token))
        if user is None or self._clock() >= self._ends:
            return None
        mine = [key for key, session in self._sessions.items() if session.user == user]
        for key in mine[: max(0, len(mine) - SESSIONS_EACH + 1)]:
            del self._sessions[key]
        key = secrets.token_urlsafe(32)
        self._sessions[_digest(key)] = session = Session(user, self._ends, secrets.token_urlsafe(32))
        return key, session

    def session(self, key: str | None) -> Session | None:
        """The session of a cookie; None where there is none, or its time is over."""
        session = self._sessions.get(_digest(key)) if key else None
        return session if session and self._clock() < session.ends else None

    def leave(self, key: str | None) -> None:
        """End a session."""
        if key:
            self._sessions.pop(_digest(key), None)


def same(given: str | None, wanted: str) -> bool:
    """Whether two tokens are the same, in constant time."""
    return given is not None and hmac.compare_digest(given.encode(), wanted.encode())


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()
