"""Runs a graph in each way that clients of all these releases know, and prints what came back."""

import asyncio
import json
import os

from langgraph_sdk import get_client


async def main() -> None:
    client = get_client(url=os.environ["DEPLOYMENT_URL"], api_key=os.environ["KEY"])
    thread = (await client.threads.create())["thread_id"]
    said = {"waited": (await client.runs.wait(thread, "kinds", input={"kind": "plain"}))["log"]}
    stream = client.runs.stream(thread, "kinds", input={"kind": "plain"}, stream_mode=["updates", "values"])
    said["streamed"] = sorted({part.event async for part in stream})
    asked = (await client.threads.create())["thread_id"]
    run = await client.runs.create(asked, "kinds", input={"kind": "ask"})
    await client.runs.join(asked, run["run_id"])
    said["interrupted"] = (await client.threads.get(asked))["status"]
    answered = await client.runs.wait(asked, "kinds", command={"resume": "yes"})
    said["answer"] = answered["answer"]
    said["history"] = len(await client.threads.get_history(asked)) > 3
    await client.store.put_item(("field",), key="k", value={"n": 1})
    said["item"] = (await client.store.get_item(("field",), key="k"))["value"]
    said["assistants"] = len(await client.assistants.search(graph_id="kinds"))
    print(json.dumps(said))


asyncio.run(main())
