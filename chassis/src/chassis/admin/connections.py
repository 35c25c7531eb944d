"""What the command talks to: the service's database, and the feeds of other services."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import httpx
import psycopg
from psycopg.rows import dict_row

from chassis.admin.settings import address_of
from chassis.core.settings import CallingSettings, DatabaseSettings, read
from chassis.core.start_failure import StartFailure
from chassis.core.tls import TlsSettings
from chassis.db import database_url, isolation
from chassis.db.database import Connection
from chassis.messaging.feed import changes_of
from chassis.messaging.rebuild import ReadFeed
from chassis.web.peers import Peer

_TIMEOUT = httpx.Timeout(30, connect=5)


@asynccontextmanager
async def database() -> AsyncIterator[Connection]:
    """A connection to the database of DATABASE_URL; raises StartFailure when that leads nowhere."""
    try:
        connection = await psycopg.AsyncConnection.connect(
            read(DatabaseSettings).database_url,
            autocommit=True,
            row_factory=dict_row,
            prepare_threshold=None,
            connect_timeout=10,
            options=f"-c TimeZone=UTC -c statement_timeout=60s -c role={isolation.ACROSS}",
            application_name="traceline admin",
        )
    except (psycopg.OperationalError, psycopg.ProgrammingError) as error:
        raise database_url.refusal(error) from None
    async with connection:
        yield connection


@asynccontextmanager
async def feed_of(source: str) -> AsyncIterator[ReadFeed]:
    """The feed of the service `source`; raises StartFailure when its address is not set."""
    url = address_of(source)
    if url is None:
        raise StartFailure(f"Set {source.upper()}_URL, the address of {source}-service: its feed is read.")
    signer = read(CallingSettings).signer()
    believes = read(TlsSettings).client()
    async with httpx.AsyncClient(base_url=url, timeout=_TIMEOUT, trust_env=False, verify=believes) as client:
        yield partial(changes_of, Peer(f"{source}-service", client, signer))
