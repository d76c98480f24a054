"""A bound on the memory of a process that the server does not watch."""

import resource
import sys


def limit_memory(most_bytes: int) -> None:
    """Allocations beyond it raise MemoryError; where the system has no such bound (macOS), nothing happens."""
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        allowed = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
