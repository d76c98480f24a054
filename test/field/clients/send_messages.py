"""Sends messages to graphs as agents with a release of `a2a-sdk`, and prints what came back."""

import asyncio
import json
import os
from importlib.metadata import version
from uuid import uuid4

import httpx

if version("a2a-sdk").startswith("0."):
    from a2a_0_3 import connect, file_of, parts_of
else:
    from a2a_1 import connect, file_of, parts_of

URL, HEADERS = os.environ["DEPLOYMENT_URL"] + "/a2a/", {"x-api-key": os.environ["KEY"]}
# Seconds for a call, of which the first one waits until the graphs are loaded.
LONG = 300


def task_of(events):
    """The task after all events: its id, context, state, the text of its state and its artifacts."""
    task, artifacts = {}, []
    for kind, value in events:
        if kind == "task":
            task, artifacts = {**value}, value.get("artifacts", [])
        elif kind == "statusUpdate":
            task["status"] = value["status"]
        else:
            artifacts = [*artifacts, value["artifact"]]
    told = [part.get("text") for part in task["status"].get("message", {}).get("parts", [])]
    return {
        "id": task["id"],
        "context": task["contextId"],
        "state": task["status"]["state"],
        "told": told,
        "artifacts": [one.get("name") for one in artifacts],
        "parts": [part for one in artifacts for part in one["parts"]],
        "history": task.get("history", []),
    }


async def refusal(call):
    """The code of the error, or the name of its class without one, that refuses a call; null if none does."""
    try:
        await call
    except Exception as error:
        return getattr(getattr(error, "error", None), "code", type(error).__name__)
    return None


async def ask_and_fail(http, streaming):
    """A question and its answer, and a failure."""
    agent = await connect(http, URL + "kinds", streaming=streaming)
    asked = task_of(await agent.send(parts_of(data=[{"kind": "ask"}])))
    ended = task_of(await agent.send(parts_of(data=[{"resume": "yes"}]), asked["id"]))
    failed = task_of(await agent.send(parts_of(data=[{"kind": "fail"}])))
    return {
        "asks": [asked["state"], asked["artifacts"], asked["parts"][0]["data"]["value"]],
        "same": ended["id"] == asked["id"],
        "ends": ended["state"],
        "fails": [failed["state"], failed["told"]],
        "late": await refusal(agent.send(parts_of(texts=["again"]), asked["id"])),
    }


async def talk(http):
    """Text, files and a context that goes on."""
    agent = await connect(http, URL + "talking", streaming=False)
    context, file = str(uuid4()), (b"pixels", "image/png", "a.png")
    first = task_of(await agent.send(parts_of(texts=["What is this?"], files=[file]), None, context))
    second = task_of(await agent.send(parts_of(texts=["And this?"]), None, context))
    kept = await agent.get(first["id"])
    sent = kept["history"][0]["parts"]
    return {
        "skills": [skill["name"] for skill in agent.card["skills"]],
        "streams": agent.card["capabilities"]["streaming"],
        "context": [first["context"] == context, second["context"] == context],
        "answers": [first["artifacts"], len(first["parts"][0]["text"]) > 0],
        "turns": [len(first["history"]), len(second["history"])],
        "file": [sent[0]["text"], *file_of(sent[1])],
        "elsewhere": await refusal(agent.send(parts_of(texts=["x"]), first["id"], str(uuid4()))),
        "unknown": await refusal(agent.get(f"{uuid4()}:{uuid4()}")),
    }


async def work(http):
    """Tasks that are not waited for."""
    agent = await connect(http, URL + "kinds", streaming=False, polling=True)
    begun = task_of(await agent.send(parts_of(data=[{"kind": "slow"}])))
    ended = await agent.cancel(begun["id"])
    return {
        "begun": begun["state"],
        "cancelled": ended["status"]["state"],
        "twice": await refusal(agent.cancel(begun["id"])),
        "push": await refusal(agent.push(begun["id"])),
    }


async def stream(http):
    """The events of an answer, and those for a client that comes later."""
    agent = await connect(http, URL + "tokens", streaming=True)
    counts = parts_of(texts=["count"], data=[{"tokens": 5, "tokenDelayMs": 20}])
    events = await agent.send(counts)
    told = [value["status"].get("message", {}).get("parts", []) for kind, value in events if kind == "statusUpdate"]
    texts = [parts[0]["text"] for parts in told[:-1] if parts]
    waits = await connect(http, URL + "tokens", streaming=False, polling=True)
    longer = parts_of(texts=["count"], data=[{"tokens": 40, "tokenDelayMs": 50}])
    begun = task_of(await waits.send(longer))
    later = await agent.subscribe(begun["id"])
    return {
        "kinds": [events[0][0], events[-2][0], events[-1][0]],
        "grows": all(after.startswith(before) for before, after in zip(texts, texts[1:])),
        "whole": task_of(events)["parts"][0]["text"] == texts[-1],
        "later": [later[0][0], task_of(later)["state"]],
        "over": await refusal(agent.subscribe(begun["id"])),
    }


async def list_tasks(http):
    """The tasks of a context, newest first; null for a version without lists."""
    agent = await connect(http, URL + "echo", streaming=False)
    context = str(uuid4())
    made = [task_of(await agent.send(parts_of(data=[{"text": text}]), None, context))["id"] for text in "abc"]
    pages = await agent.list(context)
    return None if pages is None else pages == [made[:0:-1], made[:1]]


async def main():
    async with httpx.AsyncClient(headers=HEADERS, timeout=LONG) as http:
        said = {
            "wait": await ask_and_fail(http, False),
            "stream": await ask_and_fail(http, True),
            "talk": await talk(http),
            "work": await work(http),
            "events": await stream(http),
            "lists": await list_tasks(http),
        }
    async with httpx.AsyncClient(timeout=LONG) as http:
        said["keyless"] = await refusal(connect(http, URL + "echo"))
    print(json.dumps(said))


asyncio.run(main())
