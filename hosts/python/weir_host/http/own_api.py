"""Calls of a project's code to the API of its own deployment."""

import sys
from typing import Any


def call_own_deployment(socket: str) -> None:
    """Lets `get_client()` of langgraph_sdk without an address call this deployment, as on LangGraph's server."""
    import httpx
    import langgraph_sdk.client  # noqa: F401 -- for `sys.modules` below

    class OwnDeployment(httpx.AsyncHTTPTransport):
        """A connection to the server, in the place of one to an app in the same process."""

        def __init__(self, app: Any = None, root_path: str = "") -> None:
            super().__init__(uds=socket)

    # Older versions have the function in the module `client` itself.
    for name in ("langgraph_sdk._async.client", "langgraph_sdk.client"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "get_asgi_transport"):
            module.get_asgi_transport = lambda: OwnDeployment  # type: ignore[attr-defined]
