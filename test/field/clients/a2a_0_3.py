"""A client of A2A, with a release of `a2a-sdk` that speaks version 0.3 of the protocol."""

import base64
from uuid import uuid4

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
)


def parts_of(texts=(), data=(), files=()):
    """The parts of a message; a file is bytes, media type and name."""
    file_parts = [
        FilePart(file=FileWithBytes(bytes=base64.b64encode(raw).decode(), mime_type=media_type, name=name))
        for raw, media_type, name in files
    ]
    roots = [*(TextPart(text=text) for text in texts), *(DataPart(data=one) for one in data), *file_parts]
    return [Part(root=root) for root in roots]


def file_of(part):
    """The bytes in base64, the media type and the name of a file."""
    file = part.get("file", {})
    return file.get("bytes"), file.get("mimeType"), file.get("name")


def json_of(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Agent:
    """A graph as an agent."""

    def __init__(self, client, card):
        self.client, self.card = client, json_of(card)

    async def send(self, parts, task_id=None, context_id=None):
        """All that is answered to a message, as pairs of a kind and its JSON."""
        message = Message(
            message_id=str(uuid4()), role=Role.user, parts=parts, task_id=task_id, context_id=context_id
        )
        return [pair async for pair in said(self.client.send_message(message))]

    async def get(self, task_id):
        return json_of(await self.client.get_task(TaskQueryParams(id=task_id)))

    async def cancel(self, task_id):
        return json_of(await self.client.cancel_task(TaskIdParams(id=task_id)))

    async def subscribe(self, task_id):
        """All that is told about a task until it ends."""
        return [pair async for pair in said(self.client.resubscribe(TaskIdParams(id=task_id)))]

    async def push(self, task_id):
        config = PushNotificationConfig(url="https://example.com/")
        return await self.client.set_task_callback(
            TaskPushNotificationConfig(task_id=task_id, push_notification_config=config)
        )

    async def list(self, context_id):
        """Version 0.3 has no list."""


KINDS = {"status-update": "statusUpdate", "artifact-update": "artifactUpdate"}


async def said(events):
    """Each event as a pair of its kind and its JSON; the client adds every update to the task."""
    async for task, update in events:
        if update is None:
            yield "task", json_of(task)
        else:
            yield KINDS[update.kind], json_of(update)


async def connect(http, url, **config):
    """A client of the agent at an address."""
    card = await A2ACardResolver(httpx_client=http, base_url=url).get_agent_card()
    return Agent(ClientFactory(ClientConfig(httpx_client=http, **config)).create(card), card)
