"""Refusals with a code of docs/api/errors.md."""


class Refused(Exception):
    """A request that is refused: `code` is one of docs/api/errors.md, the message is for the client."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def not_found(message: str) -> Refused:
    """Something that does not exist."""
    return Refused("not_found", message)


def other_language() -> Refused:
    """A thread whose checkpoints a graph of another language has written (P-28)."""
    return Refused(
        "thread_of_other_language",
        "The thread has been written by a TypeScript graph. Graphs of another language cannot read it: use a new thread.",
    )


def text_of(error: BaseException) -> str:
    """The text of an error of user code, whose `__str__` may fail too."""
    try:
        return str(error)
    except Exception:
        return f"The text of the error cannot be read: {type(error).__name__}."
