"""Has the C library give back the memory of large arrays, which a process that scores makes and drops all day."""

import ctypes

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE = 1 << 20
_ARENAS = 2


def give_back_large_arrays() -> None:
    """Have arrays from 1 MiB on take pages of their own, which go back to the system with them.

    By itself glibc raises that size, up to 32 MiB, whenever such an array is freed: the next ones come to lie among
    what stays, and the holes that they leave grow by the hour. Each thread would have a heap of holes of its own, too.
    A C library that works differently is left alone.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
        mallopt(_M_ARENA_MAX, _ARENAS)
