"""Where RabbitMQ is, how to connect to it, and what to tell people when that fails.

BrokerAway        trying again may help
└── BrokerRefuses somebody must mend something first
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from ssl import SSLContext
from urllib.parse import unquote

from aio_pika import Connection, exceptions
from aio_pika.abc import AbstractChannel, AbstractConnection
from aiormq.exceptions import ChannelAccessRefused
from yarl import URL

from chassis.core.start_failure import StartFailure

_CONNECT_WITHIN = 5.0
_CLOSE_WITHIN = 3.0
_HEARTBEAT = "15"

# What goes wrong is raised too, and then told in one sentence.
for _library in ("aio_pika", "aiormq"):
    logging.getLogger(_library).setLevel(logging.CRITICAL)


class BrokerAway(Exception):
    """The broker cannot be reached, or the connection to it is lost; the message is one sentence."""


class BrokerRefuses(BrokerAway):
    """The broker is there and does not let us; waiting does not help."""


class Broker:
    """A RabbitMQ server, and as whom we come to it."""

    def __init__(self, url: str, believes: SSLContext | None = None) -> None:
        """Raise StartFailure when `url` is no address of a broker; `believes` says by whom one of amqps is known."""
        self._believes = believes
        try:
            parsed = URL(url)
            usual_port = {"amqp": 5672, "amqps": 5671}[parsed.scheme]
            port = parsed.port or usual_port
            host = parsed.host
        except (ValueError, KeyError):
            host = None
        if not host:
            raise StartFailure(
                "RABBITMQ_URL is no address of a RabbitMQ broker; write amqp://user:password@host:port/vhost."
            )
        self._url = parsed.with_query({"heartbeat": _HEARTBEAT, **parsed.query})
        self.place = f"{host}:{port}/{unquote(parsed.raw_path).lstrip('/')}"
        """For messages: host, port and vhost."""

    async def connect(self, purpose: str) -> AbstractConnection:
        """Return a new connection; `purpose` is what the broker's operator sees. Raise BrokerAway."""
        connection = Connection(
            self._url, client_properties={"connection_name": f"traceline, {purpose}"}, ssl_context=self._believes
        )
        try:
            with self.explained():
                await connection.connect(timeout=_CONNECT_WITHIN)
        except BaseException:
            await connection.close()
            raise
        return connection

    @asynccontextmanager
    async def channel(self, purpose: str) -> AsyncIterator[AbstractChannel]:
        """Return a channel on a connection of its own; raise BrokerAway, also for what goes wrong within."""
        connection = await self.connect(purpose)
        try:
            with self.explained():
                yield await connection.channel(publisher_confirms=False)
        finally:
            await close(connection)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise BrokerAway for whatever aio-pika raises within."""
        try:
            yield
        except exceptions.DeliveryError:
            raise  # says what became of one message; the connection is well
        except exceptions.ProbableAuthenticationError:
            raise BrokerRefuses(
                f"RabbitMQ at {self.place} does not accept the user and password of RABBITMQ_URL."
            ) from None
        except exceptions.ChannelPreconditionFailed as error:
            raise BrokerRefuses(
                f"RabbitMQ at {self.place} has a queue or an exchange of ours with other arguments ({error}): delete "
                "it there, and it is declared anew; the events that it held come again from the feed."
            ) from None
        except ChannelAccessRefused as error:
            raise BrokerRefuses(
                f"RabbitMQ at {self.place} does not let the user of RABBITMQ_URL do what it has to ({error}): "
                "give it the permissions for it."
            ) from None
        except exceptions.InvalidFrameError:
            # What aiormq makes of a refusal to open the vhost; it does not tell what the broker said.
            raise BrokerRefuses(
                f"RabbitMQ at {self.place} does not open the vhost of RABBITMQ_URL: "
                "create it, or give the user permissions for it."
            ) from None
        except exceptions.CONNECTION_EXCEPTIONS as error:
            raise BrokerAway(self._lost(error)) from error
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # aiormq cancels who waits when it closes a connection by itself, after missed heartbeats.
            raise BrokerAway(self._lost(None)) from None

    def _lost(self, error: BaseException | None) -> str:
        if isinstance(error, TimeoutError):
            return f"RabbitMQ at {self.place} does not answer."
        return f"RabbitMQ at {self.place} cannot be reached ({error or 'the connection is lost'})."


async def close(connection: AbstractConnection) -> None:
    """Close it; a broker that does not answer is left alone after some seconds."""
    with suppress(TimeoutError, *exceptions.CONNECTION_EXCEPTIONS):
        await asyncio.wait_for(connection.close(), _CLOSE_WITHIN)
