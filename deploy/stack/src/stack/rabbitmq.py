"""A private RabbitMQ node as programs under supervisord."""

import time
from pathlib import Path

from chassis.core.start_failure import StartFailure
from chassis.local import rabbitmq as private_node
from chassis.local.rabbitmq import PrivateNode
from chassis.messaging.bus.rabbitmq.users import users
from contracts import routes
from stack.programs import Program, Stage

_STARTS_WITHIN = 300
_LOOK_AGAIN = 0.05


def node(folder: Path) -> PrivateNode:
    """Return the node of a data folder, which knows a user a service."""
    follows = {service.context: routes.sources_of(service.context) for service in routes.SERVICES}
    return PrivateNode(folder, users=users(follows))


def urls(of: PrivateNode) -> dict[str, str]:
    """Return where each service connects."""
    return {service.name: of.url_of(service.context) for service in routes.SERVICES}


def programs(node: PrivateNode) -> list[Program]:
    """Return the node, and the port mapper that Erlang would else leave behind as a daemon."""
    return [
        Program(name="epmd", stage=Stage.SERVERS, command=node.epmd_command, starts_first=True),
        Program(
            name="rabbitmq", stage=Stage.SERVERS, command=node.command, settings=node.environment, starts_first=True
        ),
    ]


def install_when_missing() -> None:
    """See that RabbitMQ is on this machine; raise StartFailure, which says what to do, when it cannot be."""
    if not private_node.installed():
        print("Installing RabbitMQ (once) ...", flush=True)
        private_node.install()


def wait_for(node: PrivateNode) -> None:
    """Return when clients can connect; raise StartFailure when they cannot for too long."""
    end = time.monotonic() + _STARTS_WITHIN
    while not node.answers():
        if time.monotonic() >= end:
            raise StartFailure(f"RabbitMQ does not start; its log is in {node.folder / 'log'}.")
        time.sleep(_LOOK_AGAIN)
