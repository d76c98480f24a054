"""Lets code in thread pools know the run of the node that uses the pool, so that its model calls are in the run's trace."""

import contextvars
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

_submit = ThreadPoolExecutor.submit


def _submit_in_context(pool: ThreadPoolExecutor, work: Any, /, *args: Any, **options: Any) -> "Future[Any]":
    return _submit(pool, contextvars.copy_context().run, work, *args, **options)


def carry_context() -> None:
    """Makes every ThreadPoolExecutor execute work in a copy of the context that submits it."""
    ThreadPoolExecutor.submit = _submit_in_context  # type: ignore[method-assign]
