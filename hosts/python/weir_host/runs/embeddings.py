"""Vectors of texts, by the project's own function or Embeddings (`store.index.embed` of langgraph.json)."""

import inspect
from typing import Any

from ..errors import Refused
from ..frames import Head
from ..modules import import_file


async def embed_texts(store_index: Head | None, texts: list[str]) -> list[list[float]]:
    """The vectors of texts. Raises Refused if the deployment has no index."""
    file, _, name = str((store_index or {}).get("embed", "")).rpartition(":")
    if not file.endswith(".py"):
        raise Refused("invalid_request", "The store has no index.")
    embed: Any = getattr(import_file(file), name)
    if hasattr(embed, "aembed_documents"):
        return await embed.aembed_documents(texts)
    vectors = embed(texts)
    return await vectors if inspect.isawaitable(vectors) else vectors
