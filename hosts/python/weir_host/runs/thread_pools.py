"""Lets code in thread pools know the run of the node that uses the pool, so that its model calls are in the run's trace."""

import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from multiprocessing.pool import ThreadPool
from typing import Any

# Methods of a ThreadPool whose first argument is the work. `apply` calls one of them.
OF_POOLS = ("apply_async", "map", "map_async", "starmap", "starmap_async", "imap", "imap_unordered")


def in_context(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method of a pool, whose work is executed in copies of the context that calls it."""

    @wraps(method)
    def call(pool: Any, work: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
        context = contextvars.copy_context()

        def work_in_context(*values: Any, **named: Any) -> Any:
            return context.copy().run(work, *values, **named)

        return method(pool, work_in_context, *args, **options)

    return call


def carry_context() -> None:
    """Makes every pool of threads execute work in a copy of the context that submits it."""
    ThreadPoolExecutor.submit = in_context(ThreadPoolExecutor.submit)  # type: ignore[method-assign]
    for name in OF_POOLS:
        setattr(ThreadPool, name, in_context(getattr(ThreadPool, name)))
