"""Writes what each overlay renders to, a file an overlay: `python -m manifests FOLDER`."""

import shutil
import sys
from pathlib import Path

from manifests.rendering import CannotRender, overlays, render_text


def main(folder: Path) -> None:
    """Write all overlays into a folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for overlay in overlays():
        (folder / f"{overlay.name}.yaml").write_text(render_text(overlay))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except CannotRender as failure:
        sys.exit(str(failure))
