"""What an operator would apply: the objects that kustomize makes of an overlay, or of a component upon the base."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "deploy" / "k8s"
TOOLS = ROOT / ".venv" / "manifest-tools" / "bin"


class CannotRender(Exception):
    """There is no kubectl, or it refuses the manifests; the message is for the person who reads it."""


def overlays() -> list[Path]:
    """Return the folders of all overlays."""
    return _folders("overlays")


def components() -> list[Path]:
    """Return the folders of all components."""
    return _folders("components")


def _folders(kind: str) -> list[Path]:
    return sorted(path.parent for path in (FOLDER / kind).glob("*/kustomization.yaml"))


def kubectl(tools: Path = TOOLS) -> str:
    """Return the path of the kubectl of this machine, else of the one that `make check` installs into `tools`."""
    found = shutil.which("kubectl") or shutil.which("kubectl", path=tools)
    if found is None:
        raise CannotRender("There is no kubectl; `make check` installs one into .venv/manifest-tools.")
    return found


def render_text(folder: Path) -> str:
    """Return the objects of an overlay as YAML documents."""
    done = subprocess.run([kubectl(), "kustomize", folder], capture_output=True, text=True)
    if done.returncode:
        raise CannotRender(f"{folder} does not render: {done.stderr.strip()}")
    return done.stdout


def render(folder: Path) -> list[dict[str, Any]]:
    """Return the objects of an overlay."""
    # The parser in C takes a tenth of the time.
    return [each for each in yaml.load_all(render_text(folder), Loader=yaml.CSafeLoader) if each is not None]


def render_component(folder: Path) -> list[dict[str, Any]]:
    """Return the objects of the base with one component upon it."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(made).resolve()
        layers = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": [os.path.relpath(FOLDER / "base", place)],
            "components": [os.path.relpath(folder, place)],
        }
        (place / "kustomization.yaml").write_text(yaml.safe_dump(layers))
        return render(place)


def render_keys(overlay: str) -> list[dict[str, Any]]:
    """Return the Secrets of an overlay that the command for that makes."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(made).resolve() / "keys"
        subprocess.run([sys.executable, FOLDER / "make_keys.py", overlay, place], check=True, capture_output=True)
        return render(place)
