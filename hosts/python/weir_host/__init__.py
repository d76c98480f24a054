"""Weir's host of Python graphs: executes runs that the server grants, over the protocol in docs/protocol/host.md."""
