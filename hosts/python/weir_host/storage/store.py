"""LangGraph's long-term store over the storage broker."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, cast

from langgraph.store.base import (
    NOT_PROVIDED,
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from ..json_text import json_text, read_json, strict
from .broker import Broker
from .checkpoints import wait_in_thread

# What LangGraph fills in where a node does not say when an item expires. The server has the deployment's own defaults.
UNSAID = cast(TTLConfig, {"default_ttl": NOT_PROVIDED, "refresh_on_read": None})


class BrokeredStore(BaseStore):
    """Long-term memory of one deployment."""

    supports_ttl = True
    ttl_config = UNSAID

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """The results of several operations, in their order."""
        listed = list(ops)
        texts = [operation_text(op) for op in listed]
        _, parts = await self._broker.request("store_batch", {}, [b"[" + b",".join(texts) + b"]"])
        results = read_json(parts[0])
        return [received(op, result) for op, result in zip(listed, results, strict=True)]

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """As `abatch`, from another thread than that of the event loop."""
        return wait_in_thread(self._broker.loop, self.abatch(ops))


def operation_text(op: Op) -> bytes:
    """An operation as JSON text. Raises TypeError with its key for a value that JSON cannot keep, such as an object of a class
    of the project."""
    try:
        return json_text(sent(op), strict)
    except (TypeError, ValueError) as error:
        key = getattr(op, "key", "")
        raise TypeError(f'The value of "{key}" cannot be stored: {error}') from error


def sent(op: Op) -> dict[str, Any]:
    """An operation in the form of LangGraph's JavaScript store."""
    match op:
        case PutOp():
            index = {} if op.index is None else {"index": op.index}
            ttl = {} if op.ttl is NOT_PROVIDED else {"ttl": op.ttl}
            return {"namespace": op.namespace, "key": op.key, "value": op.value, **index, **ttl}
        case GetOp():
            return {"namespace": op.namespace, "key": op.key, **refresh_of(op)}
        case SearchOp():
            names = {"namespacePrefix": op.namespace_prefix, "limit": op.limit, "offset": op.offset}
            return {
                **names,
                **({"filter": op.filter} if op.filter else {}),
                **({"query": op.query} if op.query else {}),
                **refresh_of(op),
            }
        case ListNamespacesOp():
            conditions = [{"matchType": one.match_type, "path": one.path} for one in op.match_conditions or ()]
            deepest = {} if op.max_depth is None else {"maxDepth": op.max_depth}
            return {"matchConditions": conditions, **deepest, "limit": op.limit, "offset": op.offset}
    raise TypeError(f"The store has no operation {type(op).__name__}.")


def refresh_of(op: GetOp | SearchOp) -> dict[str, bool]:
    """Whether reading puts off the end of an item, if the node has said so."""
    return {} if op.refresh_ttl is None else {"refresh_ttl": op.refresh_ttl}


def received(op: Op, result: Any) -> Any:
    """A result as LangGraph's type."""
    match op:
        case PutOp():
            return None
        case GetOp():
            return None if result is None else Item(**fields(result))
        case SearchOp():
            return [SearchItem(**fields(one), score=one.get("score")) for one in result]
        case _:
            return [tuple(one) for one in result]


def fields(item: dict[str, Any]) -> dict[str, Any]:
    """The fields of an item."""
    return {
        "namespace": tuple(item["namespace"]),
        "key": item["key"],
        "value": item["value"],
        "created_at": datetime.fromisoformat(item["createdAt"]),
        "updated_at": datetime.fromisoformat(item["updatedAt"]),
    }
