"""Where to put what is too much for memory for as long as it is needed."""

import io
import tempfile
from typing import BinaryIO, cast


def open_spool() -> BinaryIO:
    """Open a temporary file that nobody else sees, and that is gone when it is closed."""
    try:
        return cast(BinaryIO, tempfile.TemporaryFile())
    except OSError:  # a container without a folder to write to
        return io.BytesIO()
