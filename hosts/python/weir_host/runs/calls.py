"""Answers calls of the server with a graph's own code."""

from contextlib import AsyncExitStack
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.types import Command, StateUpdate

from ..errors import Refused, not_found
from ..frames import Head
from ..json_text import json_text
from ..storage.checkpoints import BrokeredSaver, checkpoint_id_of, configurable_of
from .embeddings import embed_texts
from .execute import Deps, bind, expect_checkpoint, thread_config, to_command
from .factories import FactoryCall
from .schemas import schemas_of
from .states import checkpoint_of, live_snapshot, state_parts, thread_state

# Longest body of a history; a larger first state is still returned.
ANSWER_BYTES = 32 << 20
# The `access_context` of langgraph_sdk's ServerRuntime by call; for other calls it is `assistants.read`.
ACCESS = {
    **dict.fromkeys(("state", "end_state", "history"), "threads.read"),
    **dict.fromkeys(("update_state", "bulk_update"), "threads.update"),
}


async def answer_call(deps: Deps, call: Head) -> tuple[Head, list[bytes]]:
    """Head and parts of the answer. Raises Refused, and LangGraph's errors."""
    if call["name"] == "embed":
        return await _body(await embed_texts(deps.store_index, call["texts"]))
    async with AsyncExitStack() as stack:
        config = call["config"]
        made_with = call.get("made_with") or config
        factory_call = FactoryCall(made_with, ACCESS.get(call["name"], "assistants.read"), deps.store)
        unbound = await deps.graphs.graph(call["graph_id"], factory_call, stack)
        saver = BrokeredSaver(deps.broker)
        graph = bind(unbound, saver, deps.store)
        match call["name"]:
            case "state":
                await expect_checkpoint(saver, config)
                return await _body(thread_state(await live_snapshot(graph, config, call["subgraphs"])))
            case "end_state":
                return await _body(None, state_parts(await live_snapshot(graph, config)))
            case "history":
                return await _history(graph, call)
            case "update_state":
                await expect_checkpoint(saver, config)
                update = StateUpdate(_update_values(call["values"]), call["as_node"])
                return await _update(graph, config, [[update]])
            case "bulk_update":
                return await _update(graph, config, _supersteps(call["supersteps"]))
            case "graph":
                drawable = await graph.aget_graph(config, xray=call["xray"])
                return await _body(drawable.to_json())
            case "subgraphs":
                return await _subgraphs(graph, call)
            case "schemas":
                return await _body({"graph_id": call["graph_id"], **schemas_of(graph)})
    raise Refused("invalid_request", f'This host has no call "{call["name"]}".')


async def _body(value: Any, state: tuple[Head | None, list[bytes]] = (None, [])) -> tuple[Head, list[bytes]]:
    head, parts = state
    return {"state": head}, [json_text(value), *parts]


async def _history(graph: Pregel, call: Head) -> tuple[Head, list[bytes]]:
    before = call["before"]
    if before and "configurable" not in before:
        before = RunnableConfig(configurable=before)
    texts: list[bytes] = []
    size, last = 0, None
    states = graph.aget_state_history(call["config"], limit=call["limit"], before=before, filter=call["metadata"])
    async for snapshot in states:
        text = json_text(thread_state(snapshot, call.get("select")))
        size += len(text)
        if texts and size > ANSWER_BYTES:
            return {"state": None, "next": last}, [b"[" + b",".join(texts) + b"]"]
        texts.append(text)
        last = checkpoint_id_of(snapshot.config)
    return {"state": None}, [b"[" + b",".join(texts) + b"]"]


def _update_values(values: Any) -> Any:
    """The values of an update. A list of objects is several writes of one node: reducers get all of them, and LangGraph
    refuses a second value of a channel without a reducer."""
    if values == []:
        return {}
    if isinstance(values, list) and all(isinstance(one, dict) for one in values):
        return [Command(update=one) for one in values]
    return values


def _supersteps(supersteps: Any) -> list[list[StateUpdate]]:
    made = []
    for step in supersteps or ():
        updates = [update for update in step.get("updates") or () if isinstance(update, dict)]
        made.append([StateUpdate(_update_of(update), update.get("as_node")) for update in updates])
    return made


def _update_of(update: Head) -> Any:
    command = update.get("command")
    return _update_values(update.get("values")) if command is None else to_command(command)


async def _update(graph: Pregel, config: Any, supersteps: list[list[StateUpdate]]) -> tuple[Head, list[bytes]]:
    after = await graph.abulk_update_state(config, supersteps)
    configurable = configurable_of(after)
    state = await live_snapshot(graph, thread_config(configurable["thread_id"]))
    shown = {key: value for key, value in configurable.items() if not key.startswith("__")}
    return await _body({"checkpoint": checkpoint_of(after), "configurable": shown}, state_parts(state))


async def _subgraphs(graph: Pregel, call: Head) -> tuple[Head, list[bytes]]:
    found = {}
    async for name, subgraph in graph.aget_subgraphs(namespace=call["namespace"], recurse=call["recurse"]):
        schemas = schemas_of(subgraph)
        short = {name.removesuffix("_schema"): schema for name, schema in schemas.items() if name != "context_schema"}
        found[name] = {"graph_id": call["graph_id"], **schemas, **short}
    if call["namespace"] is not None and not found:
        raise not_found(f'No subgraph "{call["namespace"]}".')
    return {"state": None}, [json_text(found)]
