"""Uses the server that the environment names with the Python SDK.

Traces, flushes, reads everything back through the SDK, and prints what it read as one JSON object. Logs and warnings of
the SDK go to stderr; the test expects none.
"""

import json
import logging
import time
from datetime import datetime, timedelta, timezone

from langsmith import Client, RunTree, traceable
from langsmith.schemas import Attachment

logging.basicConfig(level=logging.WARNING)

PROJECT = "python"
# Seconds: long enough for a machine that is ten times slower.
PATIENCE = 120
MODEL = {"ls_provider": "openai", "ls_model_name": "gpt-4.1-mini"}
QUESTION = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "Hi there"},
]
PICTURE = bytes(range(256)) * 40
client = Client()
ids = {}


def remember(run_tree):
    ids[run_tree.name] = str(run_tree.id)


@traceable(run_type="retriever")
def retrieve(question, run_tree=None):
    return [{"page_content": question, "type": "Document"}]


@traceable(run_type="llm", metadata=MODEL)
def call_llm(messages, run_tree=None):
    remember(run_tree)
    return {
        "messages": [{"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}],
        "usage_metadata": {
            "input_tokens": 27,
            "output_tokens": 13,
            "total_tokens": 40,
            "input_token_details": {"cache_read": 10},
        },
    }


@traceable(run_type="llm", metadata=MODEL, reduce_fn=lambda pieces: {"role": "assistant", "content": "".join(pieces)})
def stream_llm(messages, run_tree=None):
    remember(run_tree)
    yield "Hello"
    yield ", "
    yield "world"


@traceable(tags=["t1"], metadata={"session_id": "thread-1"})
def rag(question, run_tree=None):
    remember(run_tree)
    retrieve(question)
    answer = call_llm(QUESTION)
    said = "".join(stream_llm(QUESTION))
    return {"answer": answer["messages"][0]["content"][0]["text"], "said": said}


@traceable
def boom(run_tree=None):
    remember(run_tree)
    raise ValueError("python boom")


@traceable(dangerously_allow_filesystem=False)
def look(picture: Attachment, question: str, run_tree=None):
    remember(run_tree)
    return {"answer": len(question)}


@traceable(run_type="tool")
def step(n):
    return n


@traceable
def fan(run_tree=None):
    remember(run_tree)
    for n in range(120):
        step(n)
    return "done"


def two_requests():
    started = datetime.now(timezone.utc)
    tree = RunTree(
        name="two_requests",
        run_type="llm",
        inputs={"messages": QUESTION},
        extra={"metadata": MODEL},
        project_name=PROJECT,
        start_time=started,
        ls_client=client,
    )
    remember(tree)
    tree.post()
    client.flush()
    tree.add_event({"name": "new_token"})
    tree.end(
        outputs={"messages": [{"role": "assistant", "content": [{"type": "text", "text": "Hello, world"}]}]},
        end_time=started + timedelta(seconds=1),
    )
    tree.patch()


def read_ended(run_ids):
    """The runs, once all of them exist and have ended."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = list(client.list_runs(project_name=PROJECT, run_ids=run_ids)) if client.has_project(PROJECT) else []
        if len(found) == len(run_ids) and all(run.end_time for run in found):
            return {run.name: run for run in found}
        if time.monotonic() > deadline:
            raise TimeoutError(f"sent {ids}, there: {[(run.name, str(run.end_time)) for run in found]}")
        time.sleep(0.02)


def read_one(run_id):
    try:
        return json.loads(client.read_run(run_id).json())
    except Exception as error:
        return repr(error)


def listed(**query):
    return list(client.list_runs(project_name=PROJECT, select=["id", "name"], **query))


rag("why?")
try:
    boom()
except ValueError:
    pass
look(Attachment(mime_type="image/png", data=PICTURE), "what?")
fan()
two_requests()
client.flush()

runs = read_ended(list(ids.values()))
client.create_feedback(
    ids["rag"],
    "user_score",
    score=0.5,
    comment="good",
    trace_id=ids["rag"],
    session_id=runs["rag"].session_id,
    start_time=runs["rag"].start_time,
)
client.flush()
feedback = []
deadline = time.monotonic() + PATIENCE
while not feedback and time.monotonic() < deadline:
    feedback = list(client.list_feedback(run_ids=[ids["rag"]]))

print(
    json.dumps(
        {
            "ids": ids,
            # Attachments are bytes, which are no JSON.
            "runs": {name: json.loads(run.json(exclude={"attachments"})) for name, run in runs.items()},
            "read_run": read_one(ids["rag"]),
            "feedback": [{"key": f.key, "score": f.score, "comment": f.comment} for f in feedback],
            "listed": len({str(run.id) for run in listed()}),
            "roots": sorted(run.name for run in listed(is_root=True)),
            "tools": len(listed(run_type="tool")),
            "failed": [run.name for run in listed(error=True)],
            "filtered": sorted(run.name for run in listed(filter='has(tags, "t1")')),
            "project": client.read_project(project_name=PROJECT).name,
            "has_project": client.has_project(PROJECT),
        }
    )
)
