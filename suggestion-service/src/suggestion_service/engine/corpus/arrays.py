"""Arrays that only grow, and the types of arrays that the engine works with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_FIRST_CAPACITY = 64


class GrowingArray:
    """Values one after the other, with room to grow. What was given out as `values` stays as it was."""

    def __init__(self, dtype: Any, *shape: int) -> None:
        """`shape` is that of one value: nothing for a number."""
        self._room: NDArray[Any] = np.empty((_FIRST_CAPACITY, *shape), dtype)
        self.size = 0

    @property
    def values(self) -> NDArray[Any]:
        """A view of all values, without a copy."""
        return self._room[: self.size]

    @property
    def nbytes(self) -> int:
        """The bytes that it takes; of objects what points to them."""
        return self._room.nbytes

    def extend(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        end = self.size + len(values)
        if end > len(self._room):
            grown = np.empty((max(end, 2 * len(self._room)), *self._room.shape[1:]), self._room.dtype)
            grown[: self.size] = self.values
            self._room = grown
        self._room[self.size : end] = values
        self.size = end

    def append(self, value: Any) -> None:
        """Add one value at the end."""
        if self.size == len(self._room):
            self.extend(np.array([value], self._room.dtype))
        else:
            self._room[self.size] = value
            self.size += 1
