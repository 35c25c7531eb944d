"""A TCP connection between two programs that can be cut, reset, slowed and silenced."""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Self

_CHUNK = 65536


class ToxicLink:
    """Listens on a free port of the loopback address and passes everything on to a target, until told otherwise.

    It works in a thread of its own; as a context manager it listens inside. What it is told holds for connections
    that are open and for those to come.
    """

    def __init__(self, host: str, port: int) -> None:
        """Args: where the connections lead to."""
        self._target = (host, port)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"link to {host}:{port}", daemon=True)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._arriving: set[asyncio.Task[None]] = set()
        self._flowing: asyncio.Event
        self._delay = 0.0
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._refuse())
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def pass_on(self) -> None:
        """As if nothing had been."""
        self._do(self._resume())

    def cut(self) -> None:
        """Close what is open, and refuse new connections."""
        self._do(self._refuse())
        self._do(self._close(abruptly=False))

    def reset(self) -> None:
        """Reset what is open (RST); new connections pass."""
        self._do(self._close(abruptly=True))

    def slow(self, seconds: float) -> None:
        """Have everything arrive so much later, in both directions."""
        self._delay = seconds

    def black_hole(self) -> None:
        """Swallow everything: connections stay open, and nothing arrives."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        done: Future[None] = asyncio.run_coroutine_threadsafe(work, self._loop)
        done.result(timeout=120)

    async def _listen(self) -> None:
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _refuse(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _resume(self) -> None:
        self._delay = 0.0
        self._flowing.set()
        if self._server is None:
            await self._listen()

    async def _close(self, *, abruptly: bool) -> None:
        for writer in list(self._open):
            if abruptly:
                # Closing a socket that may not linger sends RST.
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            else:
                writer.close()

    async def _end(self) -> None:
        await self._close(abruptly=True)
        for arriving in self._arriving:
            arriving.cancel()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        self._open.add(writer)
        try:
            there_reader, there = await asyncio.open_connection(*self._target)
            ends.append(there)
            self._open.add(there)
            await asyncio.gather(self._pass(reader, there), self._pass(there_reader, writer))
        except OSError:
            pass  # one of the two is gone: so is the other, below
        finally:
            for end in ends:
                self._open.discard(end)
                end.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on in order; while it is slow, each chunk waits by itself, and delays none that follow."""
        clock = asyncio.get_running_loop()
        on_the_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def arrive() -> None:
            with contextlib.suppress(OSError):  # the other end is gone
                while True:
                    due, chunk = await on_the_way.get()
                    await asyncio.sleep(due - clock.time())
                    await self._flowing.wait()
                    if not chunk:
                        writer.write_eof()
                        return
                    writer.write(chunk)
                    await writer.drain()

        arriving = asyncio.create_task(arrive())
        self._arriving.add(arriving)
        chunk = b"-"
        while chunk:
            try:
                chunk = await reader.read(_CHUNK)
            except OSError:  # reset: nothing that is on the way arrives
                arriving.cancel()
                break
            on_the_way.put_nowait((clock.time() + self._delay, chunk))
        await asyncio.wait([arriving])
        self._arriving.discard(arriving)
        writer.close()
