"""Print what packages need beside Traceline's own: `dependencies.py CHASSIS/pyproject.toml SERVICE/pyproject.toml`."""

import sys
import tomllib
from pathlib import Path

for path in sys.argv[1:]:
    project = tomllib.loads(Path(path).read_text(encoding="utf-8"))["project"]
    for need in project["dependencies"]:
        if not need.startswith("traceline-"):
            print(need)
