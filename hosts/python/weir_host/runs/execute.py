"""Executes a run of a graph to its end."""

import asyncio
import copy
import re
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, cast

from langgraph.pregel import Pregel
from langgraph.types import Command, Send

from ..errors import Refused, not_found, text_of
from ..frames import MAX_MESSAGE_CHARS, Head
from ..http.users import user_of_config
from ..json_text import json_text
from ..modules import place_of
from ..storage.broker import Broker
from ..storage.checkpoints import BrokeredSaver
from ..storage.store import BrokeredStore
from .factories import FactoryCall
from .graphs import Broken, Graphs
from .node_counter import NodeCounter
from .states import live_snapshot, state_parts
from .stream_items import Item, StreamItems
from .tracing import run_tracer

# Seconds after a cancel until LangGraph's stream is abandoned if it has not ended.
ABANDON_SECONDS = 0.05
# Seconds in which the last writes must be stored: a stream may be ahead of its checkpoints.
SETTLE_SECONDS = 10
# The name of a graph that has been compiled without one.
UNNAMED = "LangGraph"
IDENTITY = ("run_id", "thread_id", "graph_id", "assistant_id")


@dataclass(frozen=True)
class Deps:
    """The parts of a host that runs and calls share."""

    graphs: Graphs
    broker: Broker
    store: BrokeredStore
    project: str
    store_index: Head | None


@dataclass(frozen=True)
class End:
    """The end of a job: the head and the parts of its frame."""

    head: Head
    parts: list[bytes]


# Reading the version of a package takes longer than a step of a graph.
version_of = cache(version)


def bind(graph: Pregel, saver: BrokeredSaver, store: BrokeredStore) -> Pregel:
    """The graph with the deployment's storage. LangGraph's own `copy` would check the whole graph again."""
    bound = copy.copy(graph)
    bound.checkpointer = saver
    bound.store = store
    return bound


class Execution:
    """One attempt of a run. `items` and `trace` receive its output."""

    def __init__(
        self, deps: Deps, job: Head, items: Callable[[Iterable[Item]], None], trace: Callable[[bytes], None]
    ) -> None:
        self._deps = deps
        self._job = job
        self._run: Head = job["run"]
        self._kwargs: Head = self._run["kwargs"]
        self._items = items
        is_ahead, fresh = self._kwargs["durability"] != "sync", self._run["thread_id"] if job.get("fresh") else None
        self._saver = BrokeredSaver(deps.broker, job["lease"], is_ahead, fresh)
        self._stream = StreamItems(self._kwargs["stream_mode"], self._kwargs["subgraphs"])
        self._tracer = (
            None if job["trace_id"] is None else run_tracer(deps.project, trace, self._kwargs, job["trace_id"])
        )
        self._counter = NodeCounter()
        self._graph: Pregel | None = None
        self._needs_state = True
        self._cancelled = asyncio.Event()

    @property
    def is_cancelled(self) -> bool:
        """True if `cancel` was called."""
        return self._cancelled.is_set()

    def cancel(self, needs_state: bool) -> None:
        """Ends the run; a node that does not stop is abandoned. A run that is rolled back needs no state."""
        self._needs_state = needs_state
        self._cancelled.set()

    async def execute(self) -> End:
        """Executes the run; errors of the graph are part of the result. Raises only errors of this host."""
        run = self._run
        self._items([("metadata", json_text({"run_id": run["run_id"], "attempt": run["attempt"]}))])
        failure = await self._ended(asyncio.get_running_loop().create_task(self._read()))
        is_clean = failure is None and not self.is_cancelled
        # Before the wait: rows that are added during it would be stored after the state has been read.
        self._saver.sealed = True
        if not is_clean:
            await self._settle()
        state, parts = await self._last_state(is_clean)
        if self._tracer is not None:
            self._tracer.end("The run was cancelled.")
        about = {"type": "end", "state": state, "nodes": self._counter.nodes}
        if self.is_cancelled:
            return End({**about, "end": {"kind": "cancelled"}, "values": "none"}, parts)
        if failure is not None:
            return End({**about, "end": self._failed(failure, parts), "values": "none"}, parts)
        last = self._stream.last_values
        kind = "none" if last is None else "state" if parts and last == parts[0] else "own"
        own = [last] if kind == "own" and last is not None else []
        return End({**about, "end": {"kind": "done"}, "values": kind}, [*parts, *own])

    async def _ended(self, reading: "asyncio.Task[None]") -> BaseException | None:
        """Waits until the stream has ended, after a cancel only for a short time. Returns the failure, if there was
        one."""
        cancelled = asyncio.get_running_loop().create_task(self._cancelled.wait())
        await asyncio.wait({reading, cancelled}, return_when=asyncio.FIRST_COMPLETED)
        cancelled.cancel()
        if self.is_cancelled:
            reading.cancel()
            await asyncio.wait({reading}, timeout=ABANDON_SECONDS)
            # An abandoned task may fail later; its error is ignored.
            reading.add_done_callback(lambda task: task.cancelled() or task.exception())
            return None
        if reading.cancelled():
            return asyncio.CancelledError("The node was cancelled.")
        return reading.exception()

    async def _read(self) -> None:
        """Closes a factory's resources before the run ends, in the task that opened them, which `anyio` requires."""
        async with AsyncExitStack() as stack:
            await self._stream_graph(stack)

    async def _stream_graph(self, stack: AsyncExitStack) -> None:
        config = self._config()
        call = FactoryCall(config, "threads.create_run", self._deps.store, self._kwargs["context"] or None)
        unbound = await self._deps.graphs.graph(self._run["graph_id"], call, stack)
        graph = self._graph = bind(unbound, self._saver, self._deps.store)
        if graph.name == UNNAMED:
            graph.name = self._run["graph_id"]
        begin, place = await run_input(self._run, graph, self._saver)
        kwargs = self._kwargs
        options: Head = {
            name: kwargs[name] for name in ("interrupt_before", "interrupt_after") if kwargs[name] is not None
        }
        context = context_of(graph, kwargs["context"])
        if context is not None:
            options["context"] = context
        options |= {
            "stream_mode": library_modes(kwargs["stream_mode"]),
            "durability": kwargs["durability"],
            "subgraphs": kwargs["subgraphs"],
            # Without it, LangGraph would stream the channels that the graph's output schema leaves out.
            "output_keys": graph.output_channels,
        }
        whole = {
            **config,
            "run_id": self._job["trace_id"] or self._run["run_id"],
            "configurable": {**config["configurable"], "checkpoint_ns": "", **place, **strictness(self._run)},
            "callbacks": [self._counter, *([] if self._tracer is None else [self._tracer.handler])],
        }
        if "events" in kwargs["stream_mode"]:
            await self._read_events(graph, begin, whole, options)
        else:
            # Without closing, the other nodes would go on when an item cannot be printed.
            async with aclosing(cast(Any, graph).astream(begin, whole, **options)) as chunks:
                async for chunk in chunks:
                    self._chunk(chunk)
        await self._saver.stored()

    async def _read_events(self, graph: Pregel, begin: Any, config: Head, options: Head) -> None:
        """Sends chunks of the graph itself as items of their modes, and other events, unless hidden, as `events`
        items."""
        root = str(config["run_id"])
        async with aclosing(cast(Any, graph).astream_events(begin, config, version="v2", **options)) as events:
            async for event in events:
                if "langsmith:hidden" in (event.get("tags") or ()):
                    continue
                if event["event"] == "on_chain_stream" and event["run_id"] == root:
                    self._chunk(event["data"]["chunk"])
                elif not self.is_cancelled:
                    self._items([self._stream.of_event(event)])

    def _chunk(self, chunk: Any) -> None:
        """Sends a chunk of the graph's stream, which has a namespace only in a stream with subgraphs."""
        if not self.is_cancelled:
            namespace, mode, data = chunk if self._kwargs["subgraphs"] else ((), *chunk)
            self._items(self._stream.of_chunk(namespace, mode, data))

    def _config(self) -> Head:
        """The run's config in LangGraph's form: a client cannot override the fields that identify the run."""
        run, given = self._run, self._kwargs["config"]
        identity = {name: run[name] for name in IDENTITY}
        own = {**(given.get("metadata") or {}), **run["metadata"]}
        about = {"run_attempt": run["attempt"], "langgraph_version": version_of("langgraph")}
        config: Head = {
            "tags": [str(tag) for tag in given.get("tags") or ()],
            "metadata": {**without_step_metadata(own), **identity, **about},
            "configurable": {**without_runtime_keys(given.get("configurable") or {}), **identity},
        }
        user = user_of_config(config)
        if user is not None:
            config["configurable"]["langgraph_auth_user"] = user
        types = {"recursion_limit": int, "max_concurrency": int, "run_name": str}
        return config | {name: given[name] for name, type_ in types.items() if isinstance(given.get(name), type_)}

    async def _settle(self) -> None:
        try:
            await asyncio.wait_for(self._saver.stored(), SETTLE_SECONDS)
        except Exception:
            # The state below is that of the last checkpoint that was stored.
            return

    async def _last_state(self, is_clean: bool) -> tuple[Head | None, list[bytes]]:
        if self._graph is None or not self._needs_state:
            return None, []
        # An interrupted node may have changed the values in memory, so they are read again.
        graph = self._graph if is_clean else bind(self._graph, BrokeredSaver(self._deps.broker), self._deps.store)
        try:
            return state_parts(await live_snapshot(graph, thread_config(self._run["thread_id"])))
        except Exception:
            return None, []

    def _failed(self, thrown: BaseException, parts: list[bytes]) -> Head:
        name, message = describe_error(thrown)
        self._items([("error", json_text({"error": name, "message": message, **refusal_of(thrown)}))])
        end: Head = {
            "kind": "failed",
            "error": name,
            "message": message[:MAX_MESSAGE_CHARS],
            "retryable": is_retryable(thrown),
        }
        place = place_of(thrown)
        if place is not None:
            end["place"] = f"{place[0]}:{place[1]}"
        node = node_of(thrown)
        return end if node is None else {**end, "node": node}


def context_of(graph: Pregel, given: Head | None) -> Any:
    """The fields of a run's context that the graph's schema has. Without any it has the defaults of the schema's class,
    as on LangGraph's server; None if a field of the class has no default."""
    schema = graph.context_schema
    if schema is None:
        return given or {}
    names = field_names(schema)
    known = {name: value for name, value in (given or {}).items() if not names or name in names}
    is_class = hasattr(schema, "__dataclass_fields__") or hasattr(schema, "model_fields")
    if known or not is_class:
        return known
    try:
        return schema()
    except (TypeError, ValueError):
        return None


def field_names(schema: Any) -> set[str]:
    """The names by which a dataclass, a model or a TypedDict has its fields set."""
    models = getattr(schema, "model_fields", {})
    aliases = {field.alias for field in models.values() if field.alias is not None}
    return aliases | {*models, *getattr(schema, "__dataclass_fields__", ()), *getattr(schema, "__annotations__", ())}


# Keys of LangGraph's own bookkeeping, which a client must not set.
STEP_METADATA = re.compile(r"__|(langgraph_(step|node|triggers|path|checkpoint_ns)|checkpoint_(id|ns|map))$")


def without_step_metadata(metadata: Head) -> Head:
    """The mapping without the keys that LangGraph writes at each step."""
    return {key: value for key, value in metadata.items() if not STEP_METADATA.match(key)}


def without_runtime_keys(configurable: Head) -> Head:
    """The mapping without the keys that LangGraph reserves."""
    reserved = ("checkpoint_ns", "checkpoint_id", "checkpoint_map")
    return {key: value for key, value in configurable.items() if not key.startswith("__") and key not in reserved}


def thread_config(thread_id: str) -> Any:
    """The config of the newest state of a thread."""
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


def library_modes(modes: Iterable[str]) -> list[str]:
    """LangGraph's modes for the modes of the wire; always with `values`, which the state and `wait` need."""
    named = ["messages" if mode == "messages-tuple" else mode for mode in modes if mode != "events"]
    return list(dict.fromkeys(["values", *named]))


def strictness(run: Head) -> Head:
    """LangGraph's setting to refuse answers to interrupts that do not wait. It is only set for the first attempt: if
    that is lost, some of the interrupts may have been answered by then."""
    is_strict = run["kwargs"].get("strict_resume") is True and run["attempt"] == 1
    return {"__pregel_strict_resume": True} if is_strict else {}


async def run_input(run: Head, graph: Pregel, saver: BrokeredSaver) -> tuple[Any, Head]:
    """The input of a graph, and the checkpoint that it starts from if that is not the newest. A later attempt
    continues from the last checkpoint of its run: input, command and fork have taken effect then."""
    kwargs, thread_id = run["kwargs"], run["thread_id"]
    if run["attempt"] > 1:
        last = await saver.aget_tuple(thread_config(thread_id))
        if last is not None and last.metadata.get("run_id") == run["run_id"]:
            return None, {}
    fork = kwargs["checkpoint"] or {}
    names = ("checkpoint_id", "checkpoint_ns", "checkpoint_map")
    place = {name: fork[name] for name in names if fork.get(name) is not None}
    config: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **place}}
    await expect_checkpoint(saver, config)
    command = kwargs["command"]
    return (kwargs["input"] if command is None else to_command(await answered_by_id(command, graph, config))), place


async def answered_by_id(command: Head, graph: Pregel, config: Any) -> Head:
    """Makes an empty object the answer to each open interrupt, by its id: LangGraph would read the object itself as a
    list of answers by interrupt, without any answer."""
    if command.get("resume") != {}:
        return command
    snapshot = await live_snapshot(graph, config)
    open_ids = [one.id for task in snapshot.tasks for one in task.interrupts]
    return {**command, "resume": {id: {} for id in open_ids}}


async def expect_checkpoint(saver: BrokeredSaver, config: Any) -> None:
    """Raises not_found if the config names a checkpoint that does not exist: LangGraph reads it as an empty state."""
    id = config["configurable"].get("checkpoint_id")
    if id and await saver.aget_tuple(config) is None:
        raise not_found(f'No checkpoint "{id}" on this thread.')


def to_command(command: Head) -> Command[Any]:
    """LangGraph's command for the `command` of a run."""
    goto = command.get("goto")
    listed = [] if goto is None else goto if isinstance(goto, list) else [goto]
    made: Head = {"goto": [Send(one["node"], one.get("input")) if isinstance(one, dict) else one for one in listed]}
    update = command.get("update")
    if update is not None:
        made["update"] = [tuple(pair) for pair in update] if isinstance(update, list) else update
    if "resume" in command:
        made["resume"] = command["resume"]
    return Command(**made)


def describe_error(thrown: BaseException) -> tuple[str, str]:
    """Class and message of an error."""
    if isinstance(thrown, Broken):
        return "GraphLoadError", text_of(thrown)
    return type(thrown).__name__, text_of(thrown)


def refusal_of(thrown: BaseException) -> Head:
    """The fields of LangGraph's UnknownInterruptError, which says why answers to interrupts were refused (V-13)."""
    if type(thrown).__name__ != "UnknownInterruptError":
        return {}
    return {name: getattr(thrown, name, None) for name in ("reason", "interrupt_ids", "pending_ids")}


def failed_unexpectedly(thrown: BaseException) -> End:
    """The end of a job that this host could not execute, so that its run does not wait for ever."""
    name, message = describe_error(thrown)
    end = {"kind": "failed", "error": name, "message": message[:MAX_MESSAGE_CHARS], "retryable": False}
    return End({"type": "end", "end": end, "state": None, "values": "none"}, [])


def is_retryable(thrown: BaseException) -> bool:
    """True if the error means that the storage could not be reached."""
    return isinstance(thrown, Refused) and thrown.code == "store_unavailable"


def node_of(thrown: BaseException) -> str | None:
    """The node that failed, from the note that LangGraph adds to the error."""
    for note in getattr(thrown, "__notes__", ()):
        if note.startswith("During task with name '"):
            return str(note.split("'")[1])
    return None
