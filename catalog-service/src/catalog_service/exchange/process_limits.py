"""Bounds of the processes that read files of strangers."""

import resource
from contextlib import suppress


def limit_process(memory_bytes: int, cpu_seconds: int) -> None:
    """Bound what this process may take, where the system can; 0 is no bound."""
    limits = {resource.RLIMIT_AS: memory_bytes, resource.RLIMIT_CPU: cpu_seconds, resource.RLIMIT_CORE: 0}
    for what, most in limits.items():
        if most or what == resource.RLIMIT_CORE:
            with suppress(ValueError, OSError):
                resource.setrlimit(what, (most, most))
