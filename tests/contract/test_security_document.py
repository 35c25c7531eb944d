"""What SECURITY.md names as a proof is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_file_that_shows_something_exists() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    named = {path for path in re.findall(r"`([\w.-]+/[\w./-]+)`", text) if (ROOT / path.partition("/")[0]).is_dir()}
    assert len(named) > 50
    assert sorted(path for path in named if not (ROOT / path).exists()) == []
