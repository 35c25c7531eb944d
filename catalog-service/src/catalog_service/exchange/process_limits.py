"""Bounds of the processes that read files of strangers."""

import gc
import resource
from contextlib import suppress

_GC_THRESHOLDS = (50_000, 20, 20)
"""Objects that come and go with the rows of a file hardly ever are in circles."""


def limit_process(memory_bytes: int, cpu_seconds: int) -> None:
    """Bound what this process may take, where the system can; 0 is no bound. To be called once all is loaded."""
    limits = {resource.RLIMIT_AS: memory_bytes, resource.RLIMIT_CPU: cpu_seconds, resource.RLIMIT_CORE: 0}
    for what, most in limits.items():
        if most or what == resource.RLIMIT_CORE:
            with suppress(ValueError, OSError):
                resource.setrlimit(what, (most, most))
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
