"""Compiles the scoring loops (engine/native/*.c) when the package is built or installed.

Run by itself, `python hatch_build.py` compiles them in place; `--has-compiler` exits with 0 when there is a compiler
that works. The compiler is the one that CC names, else `cc`, else Zig's from the package `ziglang`.
"""

import os
import platform
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by itself, where nothing is installed yet
    BuildHookInterface = object  # type: ignore[assignment, misc]

NATIVE = Path(__file__).parent / "src" / "suggestion_service" / "engine" / "native"
# No fused multiplication and addition: a score is the same to the last bit on every processor.
_FLAGS = ["-std=c11", "-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-s", "-Wall", "-Werror"]
_LEVELS = (
    {"baseline": [], "x86-64-v3": ["-march=x86-64-v3"]}
    if platform.machine() in {"x86_64", "AMD64"}
    else {"baseline": []}
)
"""What is compiled for whom: every processor of this kind, and those with vectors of 256 bits."""


class KernelBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the compiled loops into the wheel, which is then one for this kind of machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell hatchling what was made."""
        compile_kernels()
        build_data["artifacts"].append("/src/suggestion_service/engine/native/*.so")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def compile_kernels() -> None:
    """Compile the loops for each level of processors, beside their sources."""
    compiler = find_compiler()
    if compiler is None:
        sys.exit(
            "Traceline's scoring loops are compiled once, and there is no C compiler here. Install one (Debian and"
            " Ubuntu: apt-get install gcc libc6-dev; macOS: xcode-select --install; or: pip install ziglang), or name"
            " one with CC=..., and run this again."
        )
    for level, flags in _LEVELS.items():
        compile_level(compiler, level, flags)


def compile_level(compiler: list[str], level: str, flags: list[str]) -> None:
    """Compile the loops for one level; what is there is replaced as a whole, while others may be using it."""
    if compiler[-2:] == ["ziglang", "cc"]:  # its names have no hyphens
        flags = [flag.replace("x86-64-v3", "x86_64_v3") for flag in flags]
    fingerprint = runpy.run_path(str(NATIVE / "sources.py"))["fingerprint"](NATIVE)
    flags = [*flags, f'-DSOURCES="{fingerprint}"']
    made, wanted = NATIVE / f".{level}.{os.getpid()}.so", NATIVE / f"{level}.so"
    sources = [str(source) for source in sorted(NATIVE.glob("*.c"))]
    try:
        subprocess.run([*compiler, *_FLAGS, *flags, "-o", str(made), *sources, "-lm"], check=True)
        made.replace(wanted)
    finally:
        made.unlink(missing_ok=True)


def find_compiler() -> list[str] | None:
    """Return the command of the first compiler that makes a library of a program that uses the C library."""
    candidates = [shlex.split(os.environ["CC"])] if os.environ.get("CC") else [["cc"]]
    if find_spec("ziglang"):
        candidates.append([sys.executable, "-m", "ziglang", "cc"])
    return next((candidate for candidate in candidates if _works(candidate)), None)


def _works(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "try.c")
        source.write_text("#include <math.h>\n#include <stdlib.h>\ndouble tried(double x) { return sqrt(x); }\n")
        arguments = [*command, "-shared", "-fPIC", "-o", str(Path(folder, "try.so")), str(source), "-lm"]
        return subprocess.run(arguments, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    if "--has-compiler" in sys.argv:
        sys.exit(find_compiler() is None)
    compile_kernels()
