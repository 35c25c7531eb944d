"""One program: what `python -m SERVICE.app` and `python -m SERVICE.worker` stand on.

It waits for what comes up later (its database, the schema), serves until SIGTERM, finishes and closes everything.
"""

from chassis.server.process.lifecycle import run
from chassis.server.process.programs import run_app, run_worker
from chassis.server.process.resources import Process

__all__ = ["Process", "run", "run_app", "run_worker"]
