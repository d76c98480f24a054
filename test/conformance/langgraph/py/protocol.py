"""Calls the deployment that the environment names with `client.threads.stream()` of LangGraph's Python SDK.

Prints the answers as one JSON object.
"""

import asyncio
import json
import os

from langgraph_sdk import get_client, get_sync_client

url, key = os.environ["DEPLOYMENT_URL"], os.environ["LANGGRAPH_API_KEY"]
HEADERS = {"x-api-key": key}
LIMIT = 120


def human(text):
    return {"messages": [{"role": "user", "content": text}]}


def last_text(values):
    content = values["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def is_end(event):
    params = event["params"]
    return event["method"] == "lifecycle" and not params["namespace"] and params["data"]["event"] != "running"


async def runs(transport):
    """Two turns, each with a stream of its own, over `transport`; commands are sent over HTTP."""
    said = {}
    client = get_client(url=url, api_key=key)

    def stream(thread_id=None, assistant_id="tokens"):
        # The SDK sends its key with commands. Over a socket it sends only `headers`.
        return client.threads.stream(thread_id, assistant_id=assistant_id, transport=transport, headers=HEADERS)

    async with stream() as thread:
        said["start"] = sorted(await thread.run.start(input={**human("hi"), "tokens": 3}))
        said["output"] = last_text(await thread.output)
        thread_id = thread.thread_id
    async with stream(thread_id) as thread:
        await thread.run.start(input={**human("again"), "tokens": 4, "tokenDelayMs": 100})
        output = await thread.output
        said["second"] = [last_text(output), len(output["messages"])]

    async with stream(assistant_id="kinds") as thread:
        await thread.run.start(input={"kind": "ask"})
        while not thread.interrupted:
            await asyncio.sleep(0.02)
        said["interrupts"] = [[one["value"], one["namespace"]] for one in thread.interrupts]
        said["respond"] = await thread.run.respond("yes")
        said["answer"] = (await thread.output)["answer"]

    async with stream(assistant_id="kinds") as thread:
        await thread.run.start(input={"kind": "fail"})
        try:
            await thread.output
        except Exception as error:
            said["failed"] = str(error)

    async with stream() as thread:
        await thread.run.start(input={**human("hi"), "tokens": 5, "tokenDelayMs": 100})
        said["steps"] = [values.get("i") async for values in thread.values][-1]

    async with stream() as thread:
        await thread.run.start(input={**human("hi"), "tokens": 5, "tokenDelayMs": 100})
        events = []
        async for event in thread.events:
            # Over a socket the SDK also yields the answer to its subscription.
            if "method" not in event:
                continue
            events.append(event)
            if is_end(event):
                break
        said["events"] = {
            "methods": sorted({event["method"] for event in events}),
            "rises": all(a["seq"] < b["seq"] for a, b in zip(events, events[1:])),
            "once": len({event["event_id"] for event in events}) == len(events),
            "ends": [event["params"]["data"]["event"] for event in events if is_end(event)],
        }
    await client.aclose()
    return said


def sync_runs():
    """The same with the synchronous client."""
    said = {}
    client = get_sync_client(url=url, api_key=key)
    with client.threads.stream(assistant_id="tokens", headers=HEADERS) as thread:
        thread.run.start(input={**human("hi"), "tokens": 3})
        said["output"] = last_text(thread.output)
        thread_id = thread.thread_id
    with client.threads.stream(thread_id, assistant_id="tokens", headers=HEADERS) as thread:
        thread.run.start(input={**human("again"), "tokens": 4})
        said["second"] = len(thread.output["messages"])
    with client.threads.stream(assistant_id="kinds", headers=HEADERS) as thread:
        thread.run.start(input={"kind": "ask"})
        while not thread.interrupted:
            pass
        said["interrupts"] = [one["value"] for one in thread.interrupts]
        thread.run.respond("yes")
        said["answer"] = thread.output["answer"]
    return said


async def main():
    sse, websocket = await asyncio.wait_for(asyncio.gather(runs("sse"), runs("websocket")), LIMIT)
    sync = await asyncio.wait_for(asyncio.to_thread(sync_runs), LIMIT)
    return {"sse": sse, "websocket": websocket, "sync": sync}


print(json.dumps(asyncio.run(main())))
