"""Uses API v2, sharing and statistics with the newest Python SDK. Prints the answers as JSON."""

import asyncio
import json
import time
import uuid
from datetime import datetime, timedelta, timezone

from langsmith import Client, traceable

PROJECT = f"python-{uuid.uuid4()}"
THREAD = "chat/1 ä"
client = Client()
now = datetime.now(timezone.utc)


@traceable(run_type="llm", name="model")
def model(question):
    return {"messages": [], "usage_metadata": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}}


@traceable(name="chain")
def chain(question):
    return model(question)


for n in range(3):
    metadata = {"thread_id": THREAD} if n < 2 else {}
    chain(f"q{n}", langsmith_extra={"client": client, "project_name": PROJECT, "metadata": metadata})
client.flush()
for _ in range(300):
    runs = list(client.list_runs(project_name=PROJECT)) if client.has_project(PROJECT) else []
    if len(runs) == 6 and all(run.end_time for run in runs):
        break
    time.sleep(0.1)
project_id = str(client.read_project(project_name=PROJECT).id)
root = str(next(run.id for run in runs if run.parent_run_id is None))


async def read():
    found = {}
    asked = {"project_ids": [project_id], "page_size": 2}
    found["queried"] = len([run async for run in client.runs.query(**asked)])
    streamed = client.runs.streaming.query_v2_items(**asked, selects=["ID", "NAME"])
    found["streamed"] = sorted([run.name async for run in streamed])
    traces = client.traces.query(project_id=project_id, page_size=2, selects=["NAME", "TOTAL_TOKENS"])
    found["traces"] = [[t.root_run.name, t.trace_aggregates.total_tokens] async for t in traces]
    of_roots = client.traces.streaming.query_items(project_id=project_id, page_size=2, selects=["NAME"])
    found["streamed_traces"] = [trace.root_run.name async for trace in of_roots]
    listed = await client.traces.list_runs(root, project_id=project_id, selects=["NAME"])
    found["of_trace"] = sorted(run.name for run in listed.items)

    where = {"session_id": project_id, "trace_id": root}
    token = (await client.runs.share.create(root, **where)).share_token
    found["same_token"] = (await client.runs.share.create(root, **where)).share_token == token
    shown = await client.runs.retrieve(root, project_id=project_id, selects=["SHARE_URL", "INPUTS"])
    found["share_url"] = shown.share_url.endswith(f"/public/{token}/r")
    public = await client.public.runs.query(token, selects=["NAME"])
    found["public"] = sorted(run.name for run in public.items)
    one = await client.public.runs.retrieve(root, share_token=token, selects=["NAME"], start_time=now)
    found["public_one"] = one.name
    found["v1"] = [
        client.run_is_shared(root),
        client.read_run_shared_link(root) == client.share_run(root),
        client.read_shared_run(token).inputs,
        len(list(client.list_shared_runs(token))),
    ]
    await client.runs.share.delete(root, session_id=project_id)
    client.unshare_run(root)
    found["unshared"] = [client.run_is_shared(root), client.read_run_shared_link(root)]

    threads = client.threads
    found["threads"] = [[t.thread_id, t.count, t.total_tokens] async for t in threads.query(project_id=project_id)]
    turns = threads.list_traces(THREAD, project_id=project_id, selects=["NAME", "TURN_NUMBER"], page_size=1)
    found["turns"] = [[turn.name, turn.turn_number] async for turn in turns]
    of_thread = await threads.stats(THREAD, session_id=project_id, selects=["TURNS"])
    found["thread_stats"] = of_thread.turns
    shared = (await threads.share.create(THREAD, project_id=project_id)).share_token
    shared_again = await threads.share.retrieve(THREAD, project_id=project_id)
    found["shared_thread"] = shared_again.share_token == shared
    await threads.share.delete(THREAD, project_id=project_id)

    sessions = client.sessions
    made = await sessions.create_v2(type="EXPERIMENT", name=f"{PROJECT}-x", extra={"a": 1, "b": 2})
    found["made"] = [made.type, made.extra]
    changed = await sessions.update_v2(made.id, extra={"a": None}, description="d")
    found["changed"] = [changed.extra, changed.description]
    found["resolved"] = (await sessions.resolve(kind="EXPERIMENT", id=made.id)).session_id == made.id
    both = sessions.list_v2(name_contains=PROJECT, sort_by="NAME", sort_order="asc", page_size=1, include_stats=True)
    found["sessions"] = [[s.type, s.run_count, s.total_tokens] async for s in both]
    found["retrieved"] = (await sessions.retrieve_v2(made.id)).description
    await sessions.delete(made.id)
    return found


found = asyncio.run(read())
found["v1_threads"] = [[t["thread_id"], len(t["runs"])] for t in client.list_threads(project_name=PROJECT)]
found["read_thread"] = len(list(client.read_thread(thread_id=THREAD, project_name=PROJECT)))
stats = client.get_run_stats(project_ids=[project_id], is_root=True, start_time=(now - timedelta(days=1)).isoformat())
found["stats"] = [stats["run_count"], stats["total_tokens"], stats["error_rate"]]
client.delete_project(project_name=PROJECT)
found["left"] = client.has_project(PROJECT)
print(json.dumps(found))
