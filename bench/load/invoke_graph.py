"""LangGraph alone: runs of the graph `tokens` with a checkpointer in memory. Prints the runs per second and the CPU time of
each in ms: `python invoke_graph.py COUNT CONNECTIONS`, in the folder of the graph."""

import asyncio
import sys
import time

sys.path.insert(0, ".")

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from tokens import State, graph

count, connections = int(sys.argv[1]), int(sys.argv[2])
saved = graph.copy(update={"checkpointer": InMemorySaver()})


async def client(number: int, runs: int) -> None:
    """Runs, one after the other, each on a thread of its own."""
    for n in range(runs):
        config = RunnableConfig(configurable={"thread_id": f"{number}-{n}"})
        await saved.ainvoke(State(messages=[HumanMessage("hi")]), config)


async def main() -> None:
    """Once to warm up, then measured."""
    await asyncio.gather(*(client(-1 - number, 4) for number in range(connections)))
    begun, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(client(number, count // connections) for number in range(connections)))
    took, used = time.perf_counter() - begun, time.process_time() - cpu
    done = count // connections * connections
    print(f"{done / took:.1f} {used / done * 1000:.2f}")


asyncio.run(main())
