"""A client of A2A, with a release of `a2a-sdk` that speaks version 1 of the protocol."""

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import new_data_part, new_message, new_raw_part, new_text_part
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
)
from google.protobuf.json_format import MessageToDict


def parts_of(texts=(), data=(), files=()):
    """The parts of a message; a file is bytes, media type and name."""
    return [
        *(new_text_part(text) for text in texts),
        *(new_data_part(one) for one in data),
        *(new_raw_part(raw, media_type, name) for raw, media_type, name in files),
    ]


def file_of(part):
    """The bytes in base64, the media type and the name of a file."""
    return part.get("raw"), part.get("mediaType"), part.get("filename")


class Agent:
    """A graph as an agent."""

    def __init__(self, client, card):
        self.client, self.card = client, MessageToDict(card)

    async def send(self, parts, task_id=None, context_id=None):
        """All that is answered to a message, as pairs of a kind and its JSON."""
        message = new_message(parts=parts, task_id=task_id, context_id=context_id, role=Role.ROLE_USER)
        return [pair async for pair in said(self.client.send_message(SendMessageRequest(message=message)))]

    async def get(self, task_id):
        return MessageToDict(await self.client.get_task(GetTaskRequest(id=task_id)))

    async def cancel(self, task_id):
        return MessageToDict(await self.client.cancel_task(CancelTaskRequest(id=task_id)))

    async def subscribe(self, task_id):
        """All that is told about a task until it ends."""
        return [pair async for pair in said(self.client.subscribe(SubscribeToTaskRequest(id=task_id)))]

    async def push(self, task_id):
        config = TaskPushNotificationConfig(task_id=task_id, url="https://example.com/")
        return await self.client.create_task_push_notification_config(config)

    async def list(self, context_id):
        """The ids of the first page of two, and of the second page."""
        first = await self.client.list_tasks(ListTasksRequest(context_id=context_id, page_size=2))
        rest = await self.client.list_tasks(
            ListTasksRequest(context_id=context_id, page_size=2, page_token=first.next_page_token)
        )
        return [[task.id for task in page.tasks] for page in (first, rest)]


async def said(events):
    """Each event as a pair of its kind and its JSON."""
    async for event in events:
        for kind, value in MessageToDict(event).items():
            yield kind, value


async def connect(http, url, **config):
    """A client of the agent at an address."""
    card = await A2ACardResolver(httpx_client=http, base_url=url).get_agent_card()
    return Agent(ClientFactory(ClientConfig(httpx_client=http, **config)).create(card), card)
