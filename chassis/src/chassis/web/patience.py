"""Waiting for a service that does not listen, since it may restart."""

import asyncio

_LOOK_AGAIN = 0.1


class Patience:
    """What those who call one service share: each time that it goes, they wait for so many seconds, and no longer."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0
        self._is_there = True

    def found(self) -> None:
        """Note that the service is there."""
        self._is_there = True

    async def wait(self) -> bool:
        """Return, after a moment, that it is to be tried again; at once, that it is not."""
        now = asyncio.get_running_loop().time()
        if self._is_there:
            self._is_there, self._until = False, now + self._seconds
        if now >= self._until:
            return False
        await asyncio.sleep(_LOOK_AGAIN)
        return True
