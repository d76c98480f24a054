"""Records one run of a graph as trace operations."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, cast

from langchain_core.tracers.langchain import LangChainTracer
from langsmith.run_trees import get_cached_client
from pydantic import BaseModel

from ..json_text import json_text, plain

# Seconds for which operations are collected into a batch; short, so that the trace of a long run grows visibly.
FLUSH_SECONDS = 0.25
HIDDEN = "langsmith:hidden"


Move = Callable[[dict[str, Any]], dict[str, Any]]


class RunTracer:
    """A tracer whose operations go to `send` as batch bodies (`{"post":[…],"patch":[…]}`), a quarter of a second after
    the first and at the end. A TraceRun that begins and ends in between is one operation."""

    def __init__(self, project: str, send: Callable[[bytes], None], move: Move | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._send = send
        self._project = project
        self._move = move
        self._records: dict[str, dict[str, Any]] = {}
        self._pending: dict[str, None] = {}
        self._posted: set[str] = set()
        self._parents: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        # Guards the records and the pending operations: handlers run in threads.
        self._lock = threading.Lock()
        # True from the first operation of a batch on: to wake the event loop for each takes longer than to record it.
        self._is_scheduled = False
        self._ended = False
        self.handler = Tracer(project_name=project, client=cast(Any, CollectingClient(self._collect)))

    def end(self, error: str) -> None:
        """Sends the remaining operations. TraceRuns that are still open end here, with `error` as the reason."""
        with self._lock:
            open_records = [(id, record) for id, record in self._records.items() if record.get("end_time") is None]
        for id, record in open_records:
            self._collect(id, {"end_time": datetime.now(UTC), "error": record.get("error") or error})
        self._flush()
        self._ended = True

    def _collect(self, id: str, fields: dict[str, Any]) -> None:
        """Adds fields to a TraceRun. May be called in any thread."""
        if self._ended:
            return
        known = {name: value for name, value in fields.items() if value is not None and name in FIELDS}
        if HIDDEN not in (fields.get("tags") or ()):
            # Printed now, because nodes may change the values until the batch is sent.
            known |= {name: Printed(field_text(known[name])) for name in PAYLOADS if name in known}
        parent = fields.get("parent_run_id")
        with self._lock:
            record = self._records.setdefault(id, {"id": id, "session_name": self._project})
            record.update(known)
            if parent is not None:
                self._parents.add(str(parent))
            self._pending[id] = None
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon_threadsafe(self._schedule)

    def _schedule(self) -> None:
        if self._timer is None and not self._ended:
            self._timer = self._loop.call_later(FLUSH_SECONDS, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # Before the operations are taken: one that is added meanwhile needs a flush of its own.
        self._is_scheduled = False
        with self._lock:
            post, patch = self._take()
        for body in bodies_of([("post", record) for record in post] + [("patch", record) for record in patch]):
            self._send(body)

    def _take(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The pending operations: TraceRuns to create, and TraceRuns to change."""
        post: list[dict[str, Any]] = []
        patch: list[dict[str, Any]] = []
        for id in self._pending:
            record = self._records[id]
            sent = dict(record) if self._move is None else self._move(record)
            if id in self._posted:
                patch.append(sent)
            elif not self._is_noise(id, record):
                post.append(sent)
                self._posted.add(id)
            if record.get("end_time") is not None:
                del self._records[id]
        self._pending.clear()
        return post, patch

    def _is_noise(self, id: str, record: dict[str, Any]) -> bool:
        """True for LangGraph's own bookkeeping (writes, branches), unless it has a child."""
        return record.get("end_time") is not None and HIDDEN in (record.get("tags") or ()) and id not in self._parents


def run_tracer(project: str, send: Callable[[bytes], None], kwargs: dict[str, Any], root: str) -> RunTracer:
    """The tracer of a run. Its TraceRuns are below the one of a caller over MCP or A2A, if the caller has a trace."""
    caller = kwargs.get("caller_trace")
    if caller is None:
        return RunTracer(project, send)
    return RunTracer(caller.get("project") or project, send, lambda record: moved(record, caller, root))


def moved(record: dict[str, Any], caller: dict[str, Any], root: str) -> dict[str, Any]:
    """A TraceRun of the run with this root, at its place in the trace of the caller. Without the dotted_order of the
    caller, that of the TraceRun is found when the caller's has arrived."""
    above, order = caller.get("dotted_order"), record.get("dotted_order")
    place = {**record, "trace_id": caller["trace_id"]}
    place.pop("dotted_order", None)
    if above is not None and order is not None:
        place["dotted_order"] = f"{above}.{order}"
    if record["id"] == root:
        place["parent_run_id"] = caller["parent_run_id"]
    return place


FIELDS = {
    "name", "run_type", "start_time", "end_time", "error", "inputs", "outputs", "extra", "serialized", "events", "tags",
    "parent_run_id", "trace_id", "dotted_order",
}  # fmt: skip


PAYLOADS = ("inputs", "outputs")
# A body with more bytes is sent; further operations go into another one.
BODY_BYTES = 4 << 20


class Printed(bytes):
    """The JSON text of a field."""


def bodies_of(operations: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[bytes]:
    """The operations as batch bodies."""
    texts: dict[str, list[bytes]] = {"post": [], "patch": []}
    size = 0
    for kind, record in operations:
        texts[kind].append(record_text(record))
        size += len(texts[kind][-1])
        if size > BODY_BYTES:
            yield body_of(texts)
            texts, size = {"post": [], "patch": []}, 0
    if size > 0:
        yield body_of(texts)


def body_of(texts: dict[str, list[bytes]]) -> bytes:
    """A batch body of the texts of TraceRuns."""
    return b'{"post":[' + b",".join(texts["post"]) + b'],"patch":[' + b",".join(texts["patch"]) + b"]}"


def record_text(record: dict[str, Any]) -> bytes:
    """A TraceRun as JSON text."""
    return b"{" + b",".join(b'"%b":%b' % (name.encode(), field_text(value)) for name, value in record.items()) + b"}"


def field_text(value: Any) -> bytes:
    """A field of a TraceRun as JSON text; `{}` for a value that cannot be printed, which must not fail the run. LangSmith's
    SDK leaves out the fields of models that are None."""
    if isinstance(value, Printed):
        return value
    try:
        return json_text(value, sparse)
    except Exception:
        return b"{}"


def sparse(value: Any) -> Any:
    """The value as of `plain`, but models only with the fields that are set."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_none=True)
    return plain(value)


class Tracer(LangChainTracer):
    """LangChain's tracer, without the copy of the whole root that it keeps for `get_run_url`."""

    def _persist_run(self, run: Any) -> None:
        pass

    @staticmethod
    def _add_child_run(parent_run: Any, child_run: Any) -> None:
        """Does nothing: a parent with its children would hold the whole trace in memory until it ends."""


class CollectingClient:
    """What LangChain's tracer and `traceable` code use of LangSmith's client to record. It sends no requests. Anything
    else, such as feedback, goes to the client that the environment of the project configures."""

    def __init__(self, collect: Callable[[str, dict[str, Any]], None]) -> None:
        self._collect = collect
        self.tracing_queue = None
        self.otel_exporter = None

    def __getattr__(self, name: str) -> Any:
        return getattr(get_cached_client(), name)

    def create_run(self, name: str, inputs: Any, run_type: str, **fields: Any) -> None:
        """Records a TraceRun that has begun."""
        self._collect(str(fields.pop("id")), {"name": name, "inputs": inputs, "run_type": run_type, **fields})

    def update_run(self, run_id: Any, **fields: Any) -> None:
        """Records a TraceRun that has changed or ended."""
        self._collect(str(run_id), fields)

    def flush(self) -> None:
        """Does nothing: no operation is queued here."""
