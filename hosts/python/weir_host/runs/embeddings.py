"""Vectors of texts: `store.index.embed` of langgraph.json is the project's own function or Embeddings, or the name of a
model."""

import asyncio
import importlib
import inspect
import sys
from functools import cache
from typing import Any

from ..errors import Refused
from ..frames import Head
from ..modules import import_file


async def embed_texts(store_index: Head | None, texts: list[str]) -> list[list[float]]:
    """The vectors of texts. Raises Refused if the deployment has no index."""
    embed = embedder(str((store_index or {}).get("embed", "")))
    if hasattr(embed, "aembed_documents"):
        return await embed.aembed_documents(texts)
    # A sync function may wait for a model, which would hold up the runs of this host.
    vectors = embed(texts) if inspect.iscoroutinefunction(embed) else await asyncio.to_thread(embed, texts)
    return await vectors if inspect.isawaitable(vectors) else vectors


@cache
def embedder(named: str) -> Any:
    """A function of texts, or LangChain's Embeddings. Raises Refused if there is none, or its package is missing."""
    file, _, name = named.rpartition(":")
    if file.endswith(".py"):
        return getattr(import_file(file), name)
    if not file:
        raise Refused("invalid_request", "The store has no index.")
    try:
        # A package of the project, which may be missing.
        return importlib.import_module("langchain.embeddings").init_embeddings(named)
    except ImportError as error:
        provider = named.partition(":")[0]
        advice = f"{sys.executable} -m pip install langchain langchain-{provider}"
        raise Refused("invalid_request", f'"store.index.embed" is "{named}", which needs packages: {advice}') from error
