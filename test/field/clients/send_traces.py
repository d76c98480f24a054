"""Traces a call with a model call in it, reads both back over every API that this release has, and prints what it read."""

import asyncio
import json
import os
import time

from langsmith import Client, traceable

PROJECT = os.environ["PROJECT"]
client = Client()


@traceable(run_type="llm", name="model")
def model(question: str) -> dict:
    return {"messages": [], "usage_metadata": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}}


@traceable(name="chain")
def chain(question: str) -> dict:
    return model(question)


def read() -> list:
    runs = list(client.list_runs(project_name=PROJECT)) if client.has_project(PROJECT) else []
    return runs if all(run.end_time for run in runs) else []


async def read_v2(project_id: str) -> "list[str] | None":
    """The names of the runs; None for a release without the resources of v2."""
    if not hasattr(client, "runs"):
        return None
    async with asyncio.timeout(60):
        return sorted([run.name async for run in client.runs.query(project_ids=[project_id], selects=["NAME"])])


chain("q", langsmith_extra={"client": client, "project_name": PROJECT})
if hasattr(client, "flush"):
    client.flush()
until = time.monotonic() + 60
while len(runs := read()) < 2 and time.monotonic() < until:
    time.sleep(0.2)
root = next(run for run in runs if run.parent_run_id is None)
project = client.read_project(project_name=PROJECT)
said = {
    "names": sorted(run.name for run in runs),
    "tokens": client.read_run(root.id).total_tokens,
    "v2": asyncio.run(read_v2(str(project.id))),
}
client.create_feedback(root.id, key="good", score=1)
said["feedback"] = [one.score for one in client.list_feedback(run_ids=[root.id])]
print(json.dumps(said))
