"""How many exports are made at once."""

import asyncio

PLACES = asyncio.Semaphore(2)
"""Those of this process: each holds a connection and a thread while it is made."""
