"""Sends messages to graphs as agents with a release of `a2a-sdk`, and prints what came back."""

import asyncio
import json
import os
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory

URL, HEADERS = os.environ["DEPLOYMENT_URL"] + "/a2a/", {"x-api-key": os.environ["KEY"]}


async def with_1(client, data, task_id=None):
    """The last task of a message, with a release of version 1 of the protocol."""
    from a2a.helpers.proto_helpers import new_data_message
    from a2a.types import Role, SendMessageRequest
    from google.protobuf.json_format import MessageToDict

    message = new_data_message(data, task_id=task_id, role=Role.ROLE_USER)
    task, artifacts = {}, []
    async for event in client.send_message(SendMessageRequest(message=message)):
        said = MessageToDict(event)
        task = {**task, **said.get("task", {})}
        task["status"] = said.get("statusUpdate", {}).get("status", task.get("status"))
        artifacts += [said["artifactUpdate"]["artifact"]] if "artifactUpdate" in said else []
    return (
        task["id"],
        task["status"]["state"],
        [part.get("data") for one in artifacts or task.get("artifacts", []) for part in one["parts"]],
    )


async def with_0_3(client, data, task_id=None):
    """The last task of a message, with a release of version 0.3 of the protocol."""
    from a2a.types import DataPart, Message, Part, Role

    parts = [Part(root=DataPart(data=data))]
    message = Message(message_id=str(uuid4()), role=Role.user, parts=parts, task_id=task_id)
    task = None
    async for said in client.send_message(message):
        task = said[0]
    artifacts = [part.root.data for one in task.artifacts or [] for part in one.parts]
    return task.id, task.status.state.value, artifacts


async def main():
    said = {}
    for streaming in [False, True]:
        async with httpx.AsyncClient(headers=HEADERS, timeout=300) as http:
            factory = ClientFactory(ClientConfig(streaming=streaming, httpx_client=http))
            card = await A2ACardResolver(httpx_client=http, base_url=URL + "kinds").get_agent_card()
            client = factory.create(card)
            send = with_1 if hasattr(card, "DESCRIPTOR") else with_0_3
            task, asks, question = await send(client, {"kind": "ask"})
            same, ends, _ = await send(client, {"resume": "yes"}, task)
            _, fails, _ = await send(client, {"kind": "fail"})
            said["stream" if streaming else "wait"] = {
                "asks": asks,
                "question": question[0]["value"],
                "same": same == task,
                "ends": ends,
                "fails": fails,
            }
    print(json.dumps(said))


asyncio.run(main())
