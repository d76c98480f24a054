"""Calls the deployment that the environment names with LangGraph's Python SDK.

Prints the answers as one JSON object.
"""

import json
import os
from datetime import datetime, timedelta, timezone

from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import APIStatusError

client = get_sync_client(url=os.environ["DEPLOYMENT_URL"], api_key=os.environ["LANGGRAPH_API_KEY"])
said = {}


def refusal(call):
    try:
        call()
    except APIStatusError as error:
        return [error.status_code, error.body["code"]]
    return None


# Threads, and runs on them.
thread = client.threads.create(metadata={"made": "by python"}, ttl=60)
thread_id = thread["thread_id"]
said["waited"] = client.runs.wait(thread_id, "kinds", input={"kind": "plain"})
run = client.runs.create(thread_id, "kinds", input={"kind": "plain"})
said["joined"] = client.runs.join(thread_id, run["run_id"])
said["run"] = client.runs.get(thread_id, run["run_id"])
said["runs"] = [one["run_id"] for one in client.runs.list(thread_id)] == [run["run_id"], *[
    one["run_id"] for one in client.runs.list(thread_id, limit=5, offset=1)
]]
said["next"] = client.threads.get_state(thread_id)["next"]
said["history"] = len(client.threads.get_history(thread_id, limit=100))
client.threads.update_state(thread_id, {"log": ["by hand"]})
said["log"] = client.threads.get(thread_id)["values"]["log"][-1]
said["found"] = [one["thread_id"] for one in client.threads.search(metadata={"made": "by python"})] == [thread_id]
said["count"] = client.threads.count(metadata={"made": "by python"})
said["status"] = client.threads.update(thread_id, metadata={"more": 1})["status"]
copy = client.threads.copy(thread_id)

# An interrupt that a person answers.
asked = client.threads.create()["thread_id"]
said["asked"] = [one["value"] for one in client.runs.wait(asked, "kinds", input={"kind": "ask"})["__interrupt__"]]
said["interrupted"] = client.threads.get(asked)["status"]
said["answered"] = client.runs.wait(asked, "kinds", command={"resume": "yes"})["answer"]

# Failed runs and refused requests.
failed = client.runs.wait(asked, "kinds", input={"kind": "fail"}, raise_error=False)
said["failed"] = failed["__error__"]["error"]
said["refused"] = {
    "cancel": refusal(lambda: client.runs.cancel(thread_id, run["run_id"])),
    "thread": refusal(lambda: client.threads.get("a5a5a5a5-0000-4000-8000-000000000000")),
    "assistant": refusal(lambda: client.runs.create(thread_id, "nope", input={})),
    "id": refusal(lambda: client.threads.get("nope")),
    "label": refusal(lambda: client.store.put_item(["a", ""], key="k", value={})),
}

# Cancel, by interrupt and by rollback.
slow = client.runs.create(thread_id, "kinds", input={"kind": "slow"})
said["reject"] = refusal(
    lambda: client.runs.create(thread_id, "kinds", input={"kind": "plain"}, multitask_strategy="reject")
)
client.runs.cancel(thread_id, slow["run_id"], wait=True)
said["cancelled"] = client.runs.get(thread_id, slow["run_id"])["status"]
undone = client.runs.create(thread_id, "kinds", input={"kind": "slow"})
client.runs.cancel(thread_id, undone["run_id"], wait=True, action="rollback")
said["undone"] = refusal(lambda: client.runs.get(thread_id, undone["run_id"]))
many = [client.runs.create(thread_id, "kinds", input={"kind": "slow"})["run_id"] for _ in range(3)]
client.runs.cancel_many(thread_id=thread_id, run_ids=many, action="interrupt")

# Streams.
live = client.threads.create()["thread_id"]
parts = list(client.runs.stream(live, "kinds", input={"kind": "plain"}, stream_mode=["values", "updates"]))
said["streamed"] = [part.event for part in parts]
said["tokens"] = "".join(
    part.data[0]["content"]
    for part in client.runs.stream(None, "tokens", input={"tokens": 3}, stream_mode="messages-tuple")
    if part.event == "messages"
)
run_id = parts[0].data["run_id"]
again = list(client.runs.join_stream(live, run_id, last_event_id=parts[1].id))
said["resumed"] = [part.id for part in again] == [part.id for part in parts[2:]]
said["ended"] = list(client.runs.join_stream(live, run_id, stream_mode="updates"))
said["stream_failed"] = [part.data for part in client.runs.stream(live, "kinds", input={"kind": "fail"})][-1]
# This stream has no end, so it does not use the recording proxy, which waits for the end of an answer.
direct = get_sync_client(url=os.environ["DIRECT_URL"], api_key=os.environ["LANGGRAPH_API_KEY"])
said["thread_streamed"] = []
for part in direct.threads.join_stream(live, stream_mode=["lifecycle", "state_update"], last_event_id="-"):
    said["thread_streamed"].append(part.data.get("run_status", part.event))
    if len(said["thread_streamed"]) == 6:
        break

# Stateless runs.
said["stateless"] = client.runs.wait(None, "kinds", input={"kind": "plain"})["log"]
said["batch"] = len(client.runs.create_batch([{"assistant_id": "kinds", "input": {"kind": "plain"}}] * 2))

# Assistants.
assistant = client.assistants.create("kinds", name="By Python", metadata={"made": "by python"})
assistant_id = assistant["assistant_id"]
said["version"] = client.assistants.update(assistant_id, name="Changed", context={"a": 1})["version"]
said["versions"] = [one["version"] for one in client.assistants.get_versions(assistant_id)]
said["latest"] = client.assistants.set_latest(assistant_id, 1)["name"]
said["assistants"] = client.assistants.count(metadata={"made": "by python"})
said["nodes"] = len(client.assistants.get_graph(assistant_id, xray=True)["nodes"])
said["schemas"] = sorted(client.assistants.get_schemas("kinds"))
said["subgraphs"] = list(client.assistants.get_subgraphs("kinds", recurse=True))
client.assistants.delete(assistant_id, delete_threads=True)
said["deleted"] = refusal(lambda: client.assistants.get(assistant_id))

# Store.
client.store.put_item(["py", "notes"], key="one", value={"text": "kept"}, ttl=10)
said["item"] = client.store.get_item(["py", "notes"], key="one", refresh_ttl=True)["value"]
said["items"] = [one["key"] for one in client.store.search_items(["py"], filter={"text": "kept"})["items"]]
said["namespaces"] = client.store.list_namespaces(prefix=["py"])["namespaces"]
client.store.delete_item(["py", "notes"], key="one")
said["gone"] = client.store.get_item(["py", "notes"], key="one")

# Crons.
end = datetime.now(timezone.utc) + timedelta(days=1000)
cron = client.crons.create("kinds", schedule="0 0 1 1 *", input={"kind": "plain"}, end_time=end, metadata={"c": 1})
threaded = client.crons.create_for_thread(thread_id, "kinds", schedule="0 0 1 1 *")
said["crons"] = [client.crons.count(metadata={"c": 1}), len(client.crons.search(thread_id=thread_id))]
said["ends"] = cron["end_time"] is not None
said["cleared"] = client.crons.update(cron["cron_id"], end_time=None)["end_time"]
for one in (cron, threaded):
    client.crons.delete(one["cron_id"])

for one in (thread_id, copy["thread_id"], asked, live):
    client.threads.delete(one)
said["threads"] = client.threads.count()
print(json.dumps(said))
