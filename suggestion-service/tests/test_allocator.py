"""What a process holds after large arrays came and went, as they do with everything that is scored."""

import subprocess
import sys

_COMES_AND_GOES = """
import numpy as np
import psutil
from suggestion_service.allocator import give_back_large_arrays

give_back_large_arrays()
np.ones(20_000_000, np.uint8)  # by itself the C library would not give pages to anything smaller from now on
large, small = [], []
for _ in range(50):
    large.append(np.ones(2_000_000, np.uint8))
    small.append(np.ones(100_000, np.uint8))
before = psutil.Process().memory_info().rss
large.clear()
print(before - psutil.Process().memory_info().rss)
"""


def test_the_memory_of_large_arrays_goes_back_though_small_ones_stay_that_were_made_between_them() -> None:
    told = subprocess.run([sys.executable, "-c", _COMES_AND_GOES], capture_output=True, text=True, check=True)
    assert int(told.stdout) > 90_000_000
