"""Loads the graphs of a deployment, by file or by module."""

import inspect
import os
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any

from langgraph.pregel import Pregel

from ..errors import Refused, not_found
from ..frames import Head
from ..modules import add_project_paths, load_export, load_failure, load_failure_text
from .factories import FactoryCall, call_factory

LOAD_SECONDS = 60


class Graphs:
    """The graphs of a deployment. `failures` names the graphs that cannot be loaded; the others are served."""

    def __init__(self, entries: list[Head]) -> None:
        self.failures: list[Head] = []
        self._loaded: dict[str, Any] = {}
        add_project_paths(os.getcwd())
        for entry in entries:
            try:
                with time_limit(LOAD_SECONDS):
                    self._loaded[entry["graph_id"]] = load(entry)
            except BaseException as error:
                self.failures.append(describe_failure(entry, error))

    async def graph(self, graph_id: str, call: FactoryCall, stack: AsyncExitStack) -> Pregel:
        """The graph; for a factory, the result of calling it. Resources that it opens are closed with `stack`."""
        for failure in self.failures:
            if failure["graph_id"] == graph_id:
                raise Broken(failure["message"])
        if graph_id not in self._loaded:
            raise not_found(f'No graph "{graph_id}" is deployed.')
        value = self._loaded[graph_id]
        if not is_graph(value):
            value = call_factory(value, call)
            if hasattr(value, "__aenter__"):
                value = await stack.enter_async_context(value)
            elif hasattr(value, "__enter__"):
                value = stack.enter_context(value)
            elif inspect.isawaitable(value):
                value = await value
        return compiled(value, graph_id)


class Broken(Refused):
    """Raised for a graph that cannot be loaded."""

    def __init__(self, message: str) -> None:
        super().__init__("graph_not_loaded", message)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the code of the block, which the main thread executes, when its time is over."""

    def late(_signal: int, _frame: Any) -> None:
        raise TimeoutError(f"Loading took longer than {seconds:g} s.")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def load(entry: Head) -> Any:
    """The graph, builder or factory that an entry of langgraph.json names."""
    value = load_export(entry)
    return value if callable(value) and not is_graph(value) else compiled(value, entry["graph_id"])


def is_graph(value: Any) -> bool:
    """True for a compiled graph and for a builder of a graph."""
    return isinstance(value, Pregel) or callable(getattr(value, "compile", None)) and hasattr(value, "nodes")


def compiled(value: Any, graph_id: str) -> Pregel:
    """The graph as LangGraph executes it."""
    if isinstance(value, Pregel):
        return value
    if is_graph(value):
        return value.compile()
    raise TypeError(
        f'The export of graph "{graph_id}" is neither a compiled graph, nor a builder, nor a factory of one.'
    )


def describe_failure(entry: Head, error: BaseException) -> Head:
    """The reason why a graph cannot be loaded."""
    file, line, reason = load_failure(entry, error)
    message = f'Graph "{entry["graph_id"]}" cannot be loaded: {load_failure_text(entry, error)}'
    return {"graph_id": entry["graph_id"], "file": file, "line": line, "reason": reason, "message": message}
