"""Reads and writes with the Python SDK what its users read, and prints the answers as one JSON object."""

import json
import sys
import time
import uuid
from datetime import timedelta

from langsmith import Client, RunTree
from langsmith.schemas import Attachment

PROJECT = "reads-py"
# Seconds: long enough for a machine that is ten times slower.
PATIENCE = 120
client = Client()

root = RunTree(
    name="root",
    run_type="chain",
    inputs={"q": 1},
    project_name=PROJECT,
    client=client,
    attachments={"picture": Attachment(mime_type="image/png", data=b"\x89PNG")},
)
root.post()
call = root.create_child(name="call", run_type="llm", inputs={"messages": []})
call.post()
call.end(
    outputs={
        "usage_metadata": {
            "input_tokens": 27,
            "output_tokens": 13,
            "total_tokens": 40,
            "input_token_details": {"cache_read": 10},
            "output_token_details": {"reasoning": 3},
            "input_cost": 0.5,
            "output_cost": 0.25,
            "total_cost": 0.75,
            "input_cost_details": {"cache_read": 0.125},
            "output_cost_details": {"reasoning": 0.0625},
        }
    }
)
call.patch()
root.end(outputs={"a": 2})
root.patch()
client.flush()


def ended(run_id):
    """The run, once it has ended."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            run = client.read_run(run_id)
            if run.end_time is not None:
                return run
        except Exception:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)


def files(run):
    return {name: [info["mime_type"], info["reader"].read().hex()] for name, info in (run.attachments or {}).items()}


ended(call.id)
read = ended(root.id)
listed = {run.name: run for run in client.list_runs(project_name=PROJECT)}
first, second = ({"type": "continuous", "min": 0, "max": 1}, {"max": 1, "min": 0, "type": "continuous"})
key = f"key-{uuid.uuid4()}"
configs = [client.create_feedback_config(key, feedback_config=config) for config in (first, second)]
client.create_feedback(root.id, key, score=1, trace_id=root.id)
token = client.create_presigned_feedback_token(root.id, key, expiration=timedelta(hours=1))
client.create_feedback_from_token(token.id, score=0.5)
session = client.read_project(project_name=PROJECT)


def scores(**conditions):
    return sorted(record.score for record in client.list_feedback(**conditions))


client.flush()
until = time.monotonic() + PATIENCE
while len(scores(feedback_key=[key])) < 2 and time.monotonic() < until:
    time.sleep(0.05)

json.dump(
    {
        "read": files(read),
        "listed": files(listed["root"]),
        "details": [
            listed["call"].prompt_token_details,
            listed["call"].completion_token_details,
            [str(cost) for cost in (listed["call"].prompt_cost, listed["call"].completion_cost)],
            [
                {name: str(cost) for name, cost in details.items()}
                for details in (listed["call"].input_cost_details, listed["call"].output_cost_details)
            ],
        ],
        "roots": [run.name for run in client.list_runs(project_name=PROJECT, execution_order=1)],
        "docs_roots": [run.name for run in client.list_runs(project_name=PROJECT, is_root=1)],
        "configs": len({config.feedback_key for config in configs}),
        "by_key": scores(feedback_key=[key]),
        "token_is_id": token.url.endswith(str(token.id)),
        "by_project": scores(session=[session.id]),
        "elsewhere": scores(feedback_key=[f"other-{key}"]),
    },
    sys.stdout,
)
