"""Every error the program raises on purpose, on one page.

An error is one sentence: what, where, how to mend. A malformed reply of a model is *not* an error but data
(`Refer`); these classes are for what stops a command, or leaves a record pending.
"""


class LitcascadeError(Exception):
    """Base of all: the command line prints its text in one line and exits with `exit_code`."""

    exit_code = 2


class InputError(LitcascadeError):
    """A file, option or table that a person gave cannot be used; nothing was written."""


class ProtocolError(InputError):
    """The protocol (`review.toml`) says something the program cannot follow; carries file and line."""


class StoreError(LitcascadeError):
    """The review's DuckDB file is missing, held by another process, or of another version."""


class BackendError(LitcascadeError):
    """A model gave no reply (server down, time-out, retries used up): the record stays pending.

    `fatal` is true where asking further is of no use (unknown model, wrong key): the run stops there.
    """

    exit_code = 3

    def __init__(self, message: str, *, fatal: bool = False, attempts: int = 1) -> None:
        super().__init__(message)
        self.fatal = fatal
        self.attempts = attempts


class MissingExtraError(LitcascadeError):
    """An optional part is not installed; the message is the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra [{extra}]: pip install 'litcascade[{extra}]'")
