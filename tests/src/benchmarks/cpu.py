"""CPU time of servers under measurement."""

from contextlib import suppress

import psutil


def used_by_postgres(server: psutil.Process) -> float:
    """Return the CPU seconds of PostgreSQL so far, those of connections that have ended, too."""
    ended = server.cpu_times()
    total = ended.children_user + ended.children_system
    for one in server.children():
        with suppress(psutil.Error):
            times = one.cpu_times()
            total += times.user + times.system
    return float(total)
