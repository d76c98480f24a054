"""Turns the chunks of a graph's stream into the items that its run requested."""

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message

from ..json_text import json_text
from ..storage.checkpoints import configurable_of
from .states import checkpoint_of, shown_interrupt

Item = tuple[str, bytes]

INTERRUPT = "__interrupt__"


class StreamItems:
    """`modes` as the run requested them; `subgraphs` puts the namespace into the event's name."""

    def __init__(self, modes: Sequence[str], subgraphs: bool) -> None:
        self._modes = set(modes)
        self._subgraphs = subgraphs
        self._growing: dict[str, BaseMessage] = {}
        self._complete: set[str] = set()
        self._interrupts: dict[str, Any] = {}
        # JSON text of the last `values` event of the graph itself; None when there was none.
        self.last_values: bytes | None = None

    def of_chunk(self, namespace: Sequence[str], mode: str, data: Any) -> Iterator[Item]:
        """The items of a chunk: usually one, none for a mode that was not requested."""
        if mode == "values":
            yield from self._of_values(namespace, data)
        elif mode == "messages":
            yield from self._of_message(namespace, data)
        elif mode in self._modes:
            yield self._named(mode, namespace), json_text(shown(mode, data))

    def of_event(self, event: Any) -> Item:
        """The item of an event of `astream_events`."""
        return "events", json_text(event)

    def _named(self, mode: str, namespace: Sequence[str]) -> str:
        return "|".join([mode, *namespace]) if self._subgraphs and namespace else mode

    def _of_values(self, namespace: Sequence[str], data: Any) -> Iterator[Item]:
        wanted = "values" in self._modes
        if not namespace:
            data = self._with_interrupts(data)
        text = json_text(data) if wanted or not namespace else b""
        if not namespace:
            self.last_values = text
        if wanted:
            yield self._named("values", namespace), text
        if not namespace and "messages" in self._modes:
            yield from self._completed(data)

    def _with_interrupts(self, data: Any) -> Any:
        """Adds all parallel interrupts so far: LangGraph's stream has each in a separate chunk and none in the last
        chunk, so a client that reads only the last `values` would miss them."""
        if not isinstance(data, dict):
            return data
        self._interrupts |= {one.id: shown_interrupt(one) for one in data.get(INTERRUPT, ())}
        return {**data, INTERRUPT: list(self._interrupts.values())} if self._interrupts else data

    def _of_message(self, namespace: Sequence[str], data: Any) -> Iterator[Item]:
        message, metadata = data
        about = metadata if "langgraph_node" not in metadata else {**metadata, "graph_node": metadata["langgraph_node"]}
        if "messages" in self._modes and message.id:
            yield from self._grown(message, about)
        if "messages-tuple" in self._modes:
            yield self._named("messages", namespace), json_text([message, about])

    def _grown(self, message: BaseMessage, about: dict[str, Any]) -> Iterator[Item]:
        """Items of mode `messages`: for each message once its metadata, then the growing message, then all of it."""
        known = self._growing.get(message.id or "")
        if known is None:
            yield "messages/metadata", json_text({message.id: {"metadata": about}})
        if not isinstance(message, BaseMessageChunk):
            self._complete.add(message.id or "")
            yield "messages/complete", json_text([message])
            return
        grown = message if not isinstance(known, BaseMessageChunk) else known + message
        self._growing[message.id or ""] = grown
        yield "messages/partial", json_text([message_chunk_to_message(grown)])

    def _completed(self, values: Any) -> Iterator[Item]:
        found = values.get("messages") if isinstance(values, dict) else None
        listed = found if isinstance(found, list) else []
        fresh = [one for one in listed if isinstance(one, BaseMessage) and one.id and one.id not in self._complete]
        for message in fresh:
            self._complete.add(message.id or "")
            self._growing.pop(message.id or "", None)
        if fresh:
            yield "messages/complete", json_text(fresh)


def shown(mode: str, data: Any) -> Any:
    """Payloads that contain configs of LangGraph, as clients receive them."""
    if mode == "checkpoints":
        return _shown_checkpoint(data)
    if mode == "tasks":
        return _shown_task(data)
    if mode == "updates" and isinstance(data, dict) and INTERRUPT in data:
        return {**data, INTERRUPT: [shown_interrupt(one) for one in data[INTERRUPT]]}
    if mode != "debug":
        return data
    payload = data["payload"]
    made = _shown_checkpoint(payload) if data["type"] == "checkpoint" else _shown_task(payload)
    return {**data, "payload": made}


def _shown_checkpoint(payload: Any) -> Any:
    return {
        **payload,
        "config": _shown_config(payload.get("config")),
        "parent_config": _shown_config(payload.get("parent_config")),
        "checkpoint": checkpoint_of(payload.get("config")),
        "parent_checkpoint": checkpoint_of(payload.get("parent_config")),
        "tasks": [_shown_task(task) for task in payload.get("tasks") or ()],
    }


def _shown_config(config: Any) -> Any:
    """The config without handlers and LangGraph's own keys."""
    if config is None:
        return None
    rest = {name: value for name, value in config.items() if name != "callbacks"}
    return {
        **rest,
        "configurable": {key: value for key, value in configurable_of(config).items() if not key.startswith("__")},
    }


def _shown_task(task: Any) -> Any:
    if task.get("interrupts"):
        task = {**task, "interrupts": [shown_interrupt(one) for one in task["interrupts"]]}
    checkpoint = checkpoint_of(task["state"]) if isinstance(task.get("state"), dict) else None
    if checkpoint is None:
        return task
    return {**{name: value for name, value in task.items() if name != "state"}, "checkpoint": checkpoint}
