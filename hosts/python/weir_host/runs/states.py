"""States of threads, in the form of LangGraph's server."""

from dataclasses import fields
from typing import Any

from ..errors import Refused, text_of
from ..frames import MAX_INTERRUPTS, MAX_NAME_CHARS, MAX_NAMES, Head
from ..json_text import json_text, read_json
from ..storage.checkpoints import configurable_of


def checkpoint_of(config: Any) -> Head | None:
    """The wire's checkpoint of a config (thread_id, checkpoint_ns, checkpoint_id, checkpoint_map), or None."""
    configurable = configurable_of(config)
    if configurable.get("thread_id") is None:
        return None
    return {
        "thread_id": configurable["thread_id"],
        "checkpoint_ns": configurable.get("checkpoint_ns") or "",
        "checkpoint_id": configurable.get("checkpoint_id"),
        "checkpoint_map": configurable.get("checkpoint_map"),
    }


# Channels of writes that a task makes before it has finished.
NO_OUTPUT = {"__error__", "__error_source_node__", "__interrupt__", "__resume__", "__scheduled__"}


async def live_snapshot(graph: Any, config: Any, subgraphs: bool = False) -> Any:
    """The state of a thread. Without a checkpoint in the config it is the present state: its tasks have only the interrupts
    that wait for an answer, and `next` has each unfinished task. Older versions of LangGraph keep the interrupts of a task
    that has finished, and leave a task that waits at a second interrupt out of `next`."""
    snapshot = await graph.aget_state(config, subgraphs=subgraphs)
    is_present = not configurable_of(config).get("checkpoint_id")
    return await _with_open_tasks(graph.checkpointer, snapshot) if is_present else snapshot


async def _with_open_tasks(saver: Any, snapshot: Any) -> Any:
    if not any(task.interrupts for task in snapshot.tasks):
        return snapshot
    found = await saver.aget_tuple(snapshot.config)
    writes = (found and found.pending_writes) or ()
    ended = {task_id for task_id, channel, _ in writes if channel not in NO_OUTPUT}
    tasks = []
    for task in snapshot.tasks:
        if task.id in ended:
            tasks.append(task._replace(interrupts=()))
        elif hasattr(task.state, "tasks"):
            tasks.append(task._replace(state=await _with_open_tasks(saver, task.state)))
        else:
            tasks.append(task)
    next_nodes = tuple(task.name for task in tasks if task.id not in ended)
    return snapshot._replace(next=next_nodes, tasks=tuple(tasks))


def shown_interrupt(one: Any) -> Head:
    """An interrupt, which LangGraph has as an object or as a mapping, without the fields that it has no value for."""
    names = one if isinstance(one, dict) else [field.name for field in fields(one)]
    found = {name: one[name] if isinstance(one, dict) else getattr(one, name) for name in names}
    return {name: value for name, value in found.items() if name == "value" or value is not None}


def shown_error(error: Any) -> str:
    """The text of the error of a task, which LangGraph has as an exception or as a text."""
    return text_of(error) if isinstance(error, BaseException) else str(error)


def _interrupts(task: Any) -> list[Head]:
    return [shown_interrupt(one) for one in task.interrupts]


def _task(task: Any) -> Head:
    inner = task.state
    below = checkpoint_of(inner) if isinstance(inner, dict) else None
    return {
        "id": task.id,
        "name": task.name,
        "path": task.path,
        "error": None if task.error is None else shown_error(task.error),
        "interrupts": _interrupts(task),
        "checkpoint": below and {name: value for name, value in below.items() if value is not None},
        "state": None if inner is None or isinstance(inner, dict) else thread_state(inner),
        "result": task.result,
    }


def _rest(snapshot: Any) -> Head:
    return {
        "next": snapshot.next,
        "tasks": [_task(task) for task in snapshot.tasks],
        "checkpoint": checkpoint_of(snapshot.config),
        "metadata": _metadata(snapshot),
        "created_at": snapshot.created_at,
        "parent_checkpoint": checkpoint_of(snapshot.parent_config),
        "interrupts": [one for task in snapshot.tasks for one in _interrupts(task)],
    }


def _metadata(snapshot: Any) -> Any:
    """The metadata of a checkpoint with the id of its thread, as in LangGraph for JavaScript. Copied checkpoints have that of
    the thread that they come from."""
    thread_id = configurable_of(snapshot.config).get("thread_id")
    return snapshot.metadata and {**snapshot.metadata, "thread_id": thread_id}


def _part_of(value: Any, paths: list[list[str]]) -> Any:
    """The fields of an object, or of each object in a list, that begin a path; other values stay as they are."""
    if [] in paths:
        return value
    if isinstance(value, list):
        return [_part_of(item, paths) for item in value]
    if not isinstance(value, dict):
        return value
    names = [name for name in dict.fromkeys(path[0] for path in paths) if name in value]
    return {name: _part_of(value[name], [path[1:] for path in paths if path[0] == name]) for name in names}


def _part_of_values(values: Any, paths: list[list[str]]) -> Any:
    """The parts of a state's values: `messages` is one field of them, `messages`, `id` the ids of its items."""
    names = {path[0] for path in paths}
    deep = {name for name in names if [name] not in paths}
    if isinstance(values, dict):
        values = {name: value for name, value in values.items() if name in names}
    else:
        return values
    texts = {name: read_json(json_text(value)) if name in deep else value for name, value in values.items()}
    return {name: _part_of(value, [path[1:] for path in paths if path[0] == name]) for name, value in texts.items()}


def thread_state(snapshot: Any, select: list[str] | None = None) -> Head:
    """A snapshot as a ThreadState. `select` names its fields, and parts of its values: `values_bytes` is then the size
    of `values` as JSON, and tasks have no `result` unless all of `values` is selected."""
    state = {"values": snapshot.values, **_rest(snapshot)}
    if select is None:
        return state
    if "values_bytes" in select:
        state["values_bytes"] = len(json_text(snapshot.values))
    if "values" not in select:
        state["tasks"] = [{**task, "result": None} for task in state["tasks"]]
    shown = {field: value for field, value in state.items() if field in select}
    paths = [field.split(".")[1:] for field in select if field.startswith("values.")]
    return {"values": _part_of_values(snapshot.values, paths), **shown} if paths and "values" not in select else shown


def state_parts(snapshot: Any) -> tuple[Head | None, list[bytes]]:
    """A snapshot as the server stores it: its head, and the texts of its values and of its rest; nothing without a
    checkpoint. When all tasks of the last checkpoint are done but the following step is not stored, `next` has them, each
    name once."""
    if snapshot.created_at is None:
        return None, []
    interrupts = json_text({task.id: _interrupts(task) for task in snapshot.tasks if task.interrupts})
    if len(interrupts) > MAX_INTERRUPTS:
        raise Refused("body_too_large", f"The interrupts of a thread may have at most {MAX_INTERRUPTS} bytes of JSON.")
    names = list(dict.fromkeys(snapshot.next or [task.name for task in snapshot.tasks]))
    head = {
        "next": [name[:MAX_NAME_CHARS] for name in names[:MAX_NAMES]],
        "interrupts": read_json(interrupts),
    }
    return head, [json_text(snapshot.values), json_text(_rest(snapshot))]
