"""Writes and reads feedback with the Python SDK. Prints the answers as JSON."""

import datetime
import json
import os
import uuid

from langsmith import Client

client = Client()
run_id = os.environ["RUN_ID"]
given = client.create_feedback(run_id, "quality", score=0.25, comment="so so")
client.flush()

read = client.read_feedback(given.id)
client.update_feedback(given.id, score=0.5, comment=None)
changed = client.read_feedback(given.id)

tokens = client.create_presigned_feedback_tokens(run_id, ["thumbs", "stars"])
one = client.create_presigned_feedback_token(run_id, "thumbs", expiration=datetime.timedelta(hours=1))
client.create_feedback_from_token(one.url, score=1, comment="by token", metadata={"page": "chat"})
by_token = list(client.list_feedback(run_ids=[run_id], feedback_key=["thumbs"]))
listed = list(client.list_presigned_feedback_tokens(run_id))

key = f"topics-{uuid.uuid4()}"
config = {"type": "categorical", "categories": [{"value": 0, "label": "no"}, {"value": 1, "label": "yes"}]}
client.create_feedback_config(key, feedback_config=config)
client.add_feedback_categories(key, [{"value": 2, "label": "maybe"}])
client.remove_feedback_categories(key, [0])
better = client.update_feedback_config(key, is_lower_score_better=True)
configs = list(client.list_feedback_configs(feedback_key=[key]))
client.delete_feedback_config(key)

client.delete_feedback(given.id)
try:
    gone = str(client.read_feedback(given.id))
except Exception as error:
    gone = type(error).__name__

print(
    json.dumps(
        {
            "read": [read.key, read.score, read.comment, read.created_at is not None],
            "changed": [changed.score, changed.comment],
            "tokens": len(tokens),
            "listed": len(listed),
            "by_token": [[f.score, f.comment, f.feedback_source.metadata] for f in by_token],
            "config": [configs[0].feedback_config["categories"], better.is_lower_score_better],
            "configs_left": len(list(client.list_feedback_configs(feedback_key=[key]))),
            "gone": gone,
        }
    )
)
