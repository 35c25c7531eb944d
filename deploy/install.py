"""Install into a virtual environment: `python3 deploy/install.py FOLDER LOCK [PACKAGE_FOLDER...]`, a line a package.

Of LOCK each file is checked against its hash, and only wheels are taken, so that they need no compiler. Packages of
this repository are installed so that their sources stay where they are. The scoring loops of suggestion-service are
compiled then: where there is no C compiler, one comes as a package and goes again. FOLDER is made when it is not there.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

PIP = ["-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--progress-bar=off"]
# Of a third of it the programs import something: that is compiled, below, and not all.
FROM_LOCK = ["--require-hashes", "--only-binary=:all:", "--no-compile"]
PIN = re.compile(r"^[\w.-]+==", re.MULTILINE)
FETCHED = re.compile(
    r"(?:Downloading|Using cached|Processing) "
    r"(?:\S*/)?([^/\s-]+)-([^/\s-]+)-[^/\s]+\.whl"
    r"(?: \(([\d.]+ \w?B)\))?(?: \(from .*\))?$"
)
UNPACKS = "Installing collected packages"
RUNS = (
    "import embedded.serving, stack.run, chassis.migrations, chassis.bus.rabbitmq, chassis.trace_export,"
    " sqlalchemy.dialects.postgresql.psycopg, supervisor.supervisord"
)
KERNELS = Path("suggestion-service")
COMPILER = KERNELS / "compiler.lock"


def main(folder: str, lock: str, *packages: str) -> int:
    """Install; give the exit code."""
    python = f"{folder}/bin/python"
    if not Path(python).exists():
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            print(made.stdout + made.stderr, file=sys.stderr)
            return refuse("Python's venv is needed (Debian, Ubuntu: apt-get install python3-venv).")
    count = len(PIN.findall(Path(lock).read_text()))
    print(f"Installing into {folder} what {lock} names, {count} packages at most:", flush=True)
    if run([python, *PIP, *FROM_LOCK, "--requirement", lock]) != 0:
        return refuse(f"Not all of {lock} could be installed: see above. The same command goes on from here.")
    if packages and not install_ours(python, packages):
        return refuse("Traceline's own packages could not be installed: see above.")
    if "deploy/stack" in packages:
        print("      compiling ...", flush=True)
        # Once, and here: each start of a user who may not write there, or does not want to, would else do so again.
        writing = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run([python, "-c", RUNS], env=writing, check=True)
    return 0


def install_ours(python: str, packages: tuple[str, ...]) -> bool:
    """Install packages of this repository; return whether that worked."""
    ours = [word for package in packages for word in ("--editable", f"./{package}")]
    lacks_compiler = str(KERNELS) in packages and run([python, str(KERNELS / "hatch_build.py"), "--has-compiler"]) != 0
    if lacks_compiler:
        print("There is no C compiler here: one is fetched, used once, and removed again (100 MB):", flush=True)
        if run([python, *PIP, *FROM_LOCK, "--requirement", str(COMPILER)]) != 0:
            return False
    try:
        return run([python, *PIP, "--no-build-isolation", *ours]) == 0
    finally:
        if lacks_compiler:
            run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "--requirement", str(COMPILER)])


def run(command: list[str]) -> int:
    """Run pip and give its exit code; print a line for each package that it fetches, and its complaints if it fails."""
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
    """Say why it ends; give the exit code."""
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
