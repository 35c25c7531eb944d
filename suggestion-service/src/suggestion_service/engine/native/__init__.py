"""The scoring loops, in C: compiled once, at installation (hatch_build.py), and called without the interpreter's lock.

`call` runs a function that native.h declares; arrays go to it as they lie in memory.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import cffi
import numpy as np

from suggestion_service.engine.native.sources import fingerprint

_HERE = Path(__file__).parent

ffi = cffi.FFI()
ffi.cdef((_HERE / "native.h").read_text())


_COMPILE = "run `make install`, or `python suggestion-service/hatch_build.py`."


@cache
def library() -> Any:
    """Return the compiled functions, in the form that this processor runs fastest; they are loaded once a process.

    Raises RuntimeError where there are none, or those of other sources than are here.
    """
    functions = _load(_HERE / "baseline.so")
    fastest = _HERE / "x86-64-v3.so"
    return _load(fastest) if functions.runs_x86_64_v3() and fastest.exists() else functions


def _load(compiled: Path) -> Any:
    if not compiled.exists():
        raise RuntimeError(f"The scoring loops are not compiled: {_COMPILE}")
    functions: Any = ffi.dlopen(str(compiled))
    # Called as other sources declare them, they would read and write where nothing is.
    if not hasattr(functions, "compiled_from") or ffi.string(functions.compiled_from()).decode() != fingerprint(_HERE):
        raise RuntimeError(f"The scoring loops are compiled from other sources than are here: {_COMPILE}")
    return functions


_TYPES = {
    np.dtype(dtype): ffi.typeof(f"{name}[]")
    for dtype, name in (
        (np.float64, "double"),
        (np.float32, "float"),
        (np.int64, "int64_t"),
        (np.int32, "int32_t"),
        (np.int16, "int16_t"),
        (np.uint16, "uint16_t"),
        (np.bool_, "uint8_t"),
    )
}


def call(name: str, *arguments: Any) -> Any:
    """Call a compiled function; raise TypeError or ValueError for an array of another type or order than it takes."""
    return getattr(library(), name)(*_native(arguments))


def struct(name: str, *fields: Any) -> Any:
    """Return a pointer to a C struct, which is good as long as both it and the arrays in it are there."""
    return ffi.new(f"{name} *", _native(fields))


def _native(values: Iterable[Any]) -> list[Any]:
    """Return values as the compiled functions take them, arrays without a copy."""
    return [ffi.from_buffer(_TYPES[value.dtype], value) if isinstance(value, np.ndarray) else value for value in values]
