"""Forms that come late: somebody else decided on the item after the page was made, so nothing is overruled unseen."""

from collections.abc import Mapping
from dataclasses import dataclass

from litcascade.desk.keys import whole_number
from litcascade.desk.users import User
from litcascade.errors import InputError
from litcascade.store import Store

_STANDS = "seq not in (select of_seq from withdrawn)"


@dataclass(frozen=True)
class Last:
    """The newest standing word of a person on an item: its `seq` (0: nobody spoke), who, and what."""

    seq: int = 0
    who: str = ""
    words: str = ""


def last_values(store: Store, record_id: str) -> Last:
    """The newest decision on the values of a record."""
    return _last(
        store, "select seq, who, 'values given' from adjudications where stage = 'extraction' and record_id = $one", record_id, ""
    )


def last_pair(store: Store, first: str, second: str) -> Last:
    """The newest word of a person on a pair, in either order."""
    pair = "((first_id = $one and second_id = $two) or (first_id = $two and second_id = $one))"
    return _last(store, f"select seq, who, verdict from pairs where who <> 'rules' and {pair}", first, second)


def last_cause(store: Store, stage: str, record_id: str) -> Last:
    """The newest cause that a person named for an error."""
    return _last(store, "select seq, who, cause from causes where record_id = $one and stage = $two", record_id, stage)


def refuse_late(last: Last, user: User, form: Mapping[str, str]) -> None:
    """Refuse (`InputError`) a form whose page was made before somebody else's newest word."""
    seen = whole_number(form.get("version", ""))
    if seen is not None and last.seq > seen and last.who.casefold() != user.name.casefold():
        raise InputError(f"{last.who} decided on it while you read ({last.words}); look at it again and decide again")


def _last(store: Store, sql: str, one: str, two: str) -> Last:
    parameters = {"one": one, "two": two} if "$two" in sql else {"one": one}
    rows = store.rows(f"{sql} and {_STANDS} order by seq desc limit 1", parameters)
    return Last(int(rows[0][0]), rows[0][1] or "", rows[0][2] or "") if rows else Last()
