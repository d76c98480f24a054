"""An agent that looks up a city's weather. It runs offline: put a real chat model in place of `OfflineModel`."""

import json
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return json.dumps({"city": city, "high_c": 14 + len(city) % 9, "rain": len(city) % 2 == 0})


class OfflineModel(BaseChatModel):
    """Calls the tool with the last word of the question, then tells its result."""

    @property
    def _llm_type(self) -> str:
        return "offline"

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            found = json.loads(str(last.content))
            rain = "rain" if found["rain"] else "no rain"
            message = AIMessage(f"{found['city']}: up to {found['high_c']} °C, {rain}.")
        else:
            words = str(last.content).split()
            city = words[-1].strip("?!.") if words else "Lisbon"
            message = AIMessage("", tool_calls=[{"id": "call_1", "name": "weather", "args": {"city": city}}])
        return ChatResult(generations=[ChatGeneration(message=message)])


async def model(state: MessagesState) -> dict[str, Any]:
    """Answers, or calls the tool."""
    return {"messages": [await OfflineModel().ainvoke(state["messages"])]}


graph = (
    StateGraph(MessagesState)
    .add_node("model", model)
    .add_node("tools", ToolNode([weather]))
    .add_edge(START, "model")
    .add_conditional_edges("model", tools_condition)
    .add_edge("tools", "model")
    .compile()
)
