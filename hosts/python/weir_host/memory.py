"""A bound on the memory of a process that the server does not watch."""

import resource
import sys


def limit_memory(most_bytes: int) -> None:
    """Bounds the memory of this process: larger allocations raise MemoryError. Does nothing except on Linux."""
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        allowed = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
