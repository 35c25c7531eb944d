"""The scoring loops, in C: compiled once, at installation (hatch_build.py), and called without the interpreter's lock.

Arrays go to them as they lie in memory: `doubles(array)` and its like pass one on, and refuse one of another type or
order. `lib` has the functions that native.h declares.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cffi
import numpy as np
from numpy.typing import NDArray

_HERE = Path(__file__).parent

ffi = cffi.FFI()
ffi.cdef((_HERE / "native.h").read_text())


@cache
def library() -> Any:
    """Return the compiled functions, in the form that this processor runs fastest; they are loaded once a process."""
    baseline = _HERE / "baseline.so"
    if not baseline.exists():
        raise RuntimeError(
            "The scoring loops are not compiled: run `make install`, or `python suggestion-service/hatch_build.py`."
        )
    functions: Any = ffi.dlopen(str(baseline))
    fastest = _HERE / "x86-64-v3.so"
    if functions.runs_x86_64_v3() and fastest.exists():
        functions = ffi.dlopen(str(fastest))
    return functions


def _pointer(kind: str, dtype: Any) -> Callable[[NDArray[Any]], Any]:
    expected, declared = np.dtype(dtype), f"{kind}[]"

    def pointer(array: NDArray[Any]) -> Any:
        if array.dtype != expected:
            raise TypeError(f"An array of {expected} is needed here, not of {array.dtype}.")
        return ffi.from_buffer(declared, array)

    return pointer


doubles = _pointer("double", np.float64)
floats = _pointer("float", np.float32)
longs = _pointer("int64_t", np.int64)
ints = _pointer("int32_t", np.int32)
shorts = _pointer("int16_t", np.int16)
unsigned_shorts = _pointer("uint16_t", np.uint16)
bools = _pointer("uint8_t", np.bool_)
