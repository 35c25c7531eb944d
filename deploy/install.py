"""Install into a virtual environment: `python3 deploy/install.py FOLDER LOCK [PACKAGE_FOLDER...]`, a line a package.

Of LOCK each file is checked against its hash, and only wheels are taken, so that they need no compiler. Packages of
this repository are found where their sources are. The scoring loops of suggestion-service are compiled then: where
there is no C compiler, one comes as a package and goes again. FOLDER is made when it is not there.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

# Of a third of what is installed the programs import something: that is compiled, below, and not all.
PIP = [
    *("-m", "pip", "install", "--disable-pip-version-check", "--progress-bar=off"),
    *("--no-deps", "--require-hashes", "--only-binary=:all:", "--no-compile", "--requirement"),
]
PIN = re.compile(r"^[\w.-]+==", re.MULTILINE)
FETCHED = re.compile(
    r"(?:Downloading|Using cached|Processing) "
    r"(?:\S*/)?([^/\s-]+)-([^/\s-]+)-[^/\s]+\.whl"
    r"(?: \(([\d.]+ \w?B)\))?(?: \(from .*\))?$"
)
UNPACKS = "Installing collected packages"
RUNS = (
    "import embedded.serving, stack.run, chassis.migrations, chassis.messaging.bus.rabbitmq,"
    " chassis.observability.trace_export, sqlalchemy.dialects.postgresql.psycopg, supervisor.supervisord"
)
NEWER_PIP = Path(__file__).with_name("pip.lock")
KERNELS = "suggestion-service"
HOOK = f"{KERNELS}/hatch_build.py"
COMPILER = f"{KERNELS}/compiler.lock"


def main(folder: str, lock: str, *packages: str) -> int:
    """Install; return the exit code."""
    python = f"{folder}/bin/python"
    if not Path(python).exists():
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            print(made.stdout + made.stderr, file=sys.stderr)
            return refuse("Python's venv is needed (Debian, Ubuntu: apt-get install python3-venv).")
        # It reads an index in half the time of the one that comes with Python, which does as well.
        subprocess.run([python, *PIP, NEWER_PIP], capture_output=True, check=False)
    count = len(PIN.findall(Path(lock).read_text()))
    print(f"Installing into {folder} what {lock} names, {count} package{'s' * (count > 1)} at most:", flush=True)
    if run([python, *PIP, lock]) != 0:
        return refuse(f"Not all of {lock} could be installed: see above. The same command goes on from here.")
    make_known(python, packages)
    if KERNELS in packages and not compile_kernels(python):
        return refuse("The scoring loops could not be compiled: see above.")
    if "deploy/stack" in packages:
        print("      compiling ...", flush=True)
        # Once, and here: each start of a user who may not write there, or does not want to, would else do so again.
        writing = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run([python, "-c", RUNS], env=writing, check=True)
    return 0


def make_known(python: str, packages: tuple[str, ...]) -> None:
    """Have Python find the packages of this repository, wherever its folder is moved to."""
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    place = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    for package in packages:
        sources = os.path.relpath(Path(package, "src").absolute(), place)
        Path(place, f"traceline-{Path(package).name}.pth").write_text(f"{sources}\n")


def compile_kernels(python: str) -> bool:
    """Compile the scoring loops; return whether that worked."""
    lacks_compiler = run([python, HOOK, "--has-compiler"]) != 0
    if lacks_compiler:
        print("There is no C compiler here: one is fetched, used once, and removed again (100 MB):", flush=True)
        if run([python, *PIP, COMPILER]) != 0:
            return False
    try:
        return run([python, HOOK]) == 0
    finally:
        if lacks_compiler:
            run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "--requirement", COMPILER])


def run(command: list[str]) -> int:
    """Run pip and return its exit code; print a line for each package it fetches, and its complaints if it fails."""
    said: list[str] = []
    fetched = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            said.append(line)
            if (found := FETCHED.search(line.strip())) is not None:
                fetched += 1
                name, version, size = found.groups()
                print(f"  {fetched:3} {name} {version}{f', {size}' if size else ''}", flush=True)
            elif line.startswith(UNPACKS) and fetched > 1:
                print("      unpacking ...", flush=True)
    if pip.returncode != 0:
        first = next((number for number, line in enumerate(said) if line.startswith("ERROR")), 0)
        sys.stderr.writelines(said[first:])
    return pip.returncode


def refuse(sentence: str) -> int:
    """Say why it ends; return the exit code."""
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
