"""Counts the nodes that a run completes."""

from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.constants import START
from langgraph.errors import ParentCommand

# LangGraph's tag of the outermost runnable of a node; runnables inside of the node do not inherit it.
NODE_TAG = "graph:step:"


class NodeCounter(BaseCallbackHandler):
    """A callback handler that counts the completed nodes of a graph and its subgraphs, without `__start__`."""

    # Without it, LangChain calls the handler in a thread, maybe after the end of the run.
    run_inline = True

    def __init__(self) -> None:
        self.nodes = 0
        self._open: set[UUID] = set()

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Notes a node that begins."""
        if (metadata or {}).get("langgraph_node") == START:
            return
        if any(tag.startswith(NODE_TAG) for tag in tags or ()):
            self._open.add(run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Counts a node that ends."""
        self._close(run_id, True)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A node that returns a command for the parent graph ends with this error, but it is completed."""
        self._close(run_id, isinstance(error, ParentCommand))

    def _close(self, run_id: UUID, is_completed: bool) -> None:
        if run_id in self._open:
            self._open.discard(run_id)
            self.nodes += is_completed
