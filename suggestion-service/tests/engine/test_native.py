"""The compiled scoring loops: the same on every processor, careful with what they are given, and light."""

import os
import runpy
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from suggestion_service.engine import native
from suggestion_service.engine.lexical.all_pairs import SearchIndex, SparseVectors, pairs_at_least
from suggestion_service.engine.semantic.integer_products import products_of_pairs

SERVICE = Path(__file__).parents[2]
LEVELS = sorted(Path(native.__file__).parent.glob("*.so"))

A_WORKER_THAT_SCORES = """
import sys, uuid
import suggestion_service.worker
from suggestion_service.engine import ALGORITHMS, Corpus, Entry, Query, Scorer
corpus = Corpus()
for side in ("requirement", "test_case"):
    for number in range(100):
        corpus.put(side, uuid.uuid4(), Entry({f"w{number % 7}": 1, f"w{number % 11}": 2, f"w{number}": 1}))
for algorithm in ALGORITHMS:
    assert sum(len(block.scores) for block in Scorer(corpus.snapshot()).score(Query(algorithm, 0.1)))
print(sum(1 for name in ("numba", "llvmlite", "scipy") if name in sys.modules))
print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))
"""


def sides() -> tuple[SparseVectors, SparseVectors]:
    random = np.random.default_rng(7)
    made = []
    for rows in (200, 300):
        lengths = random.integers(0, 30, rows)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        terms = np.concatenate([np.sort(random.choice(90, length, replace=False)) for length in lengths])
        values = random.uniform(0.1, 1.0, (2, len(terms)))
        for start, end in pairwise(starts.tolist()):
            values[:, start:end] /= np.maximum(np.linalg.norm(values[:, start:end], axis=1, keepdims=True), 1e-9)
        made.append(SparseVectors(starts, terms.astype(np.int32), values, np.array([0.6, 0.4]), 90))
    return made[0], made[1]


def test_a_score_is_the_same_to_the_last_bit_on_every_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = sides()
    answers = set()
    for level in LEVELS:
        if level.stem == "x86-64-v3" and not native.library().runs_x86_64_v3():
            continue
        functions = native.ffi.dlopen(str(level))
        monkeypatch.setattr(native, "library", lambda functions=functions: functions)
        found = pairs_at_least(left, slice(None), SearchIndex(right, left, 0.2))
        assert len(found[0]) > 1000
        answers.add(b"".join(column.tobytes() for column in found))
    assert len(answers) == 1


def test_an_array_of_another_type_or_order_is_refused() -> None:
    whole, rows = np.ones((4, 8), np.int16), np.zeros(2, np.int64)
    with pytest.raises(TypeError, match="int16"):
        products_of_pairs(whole.astype(np.int32), rows, whole, rows)
    with pytest.raises(ValueError, match="contiguous"):
        products_of_pairs(whole[:, ::2], rows, whole, rows)


def test_a_worker_that_scores_compiles_nothing_and_stays_light() -> None:
    answer = subprocess.run([sys.executable, "-c", A_WORKER_THAT_SCORES], capture_output=True, text=True, check=True)
    compilers, kibibytes = map(int, answer.stdout.split())
    assert compilers == 0
    assert kibibytes < 200 * 1024


def test_without_a_compiler_the_build_says_what_to_install() -> None:
    environment = {**os.environ, "PATH": "/nowhere", "CC": ""}
    build = [sys.executable, str(SERVICE / "hatch_build.py")]
    answer = subprocess.run(build, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert "no C compiler here" in answer.stderr
    assert "apt-get install gcc" in answer.stderr


def load_from(folder: Path) -> str:
    """Load the loops of a copy of the package in a process of its own; return what it wrote on its standard error."""
    load = f"import sys; sys.path.insert(0, {str(folder.parent)!r}); import {folder.name}; {folder.name}.library()"
    return subprocess.run([sys.executable, "-c", load], capture_output=True, text=True, check=False).stderr


def test_loops_of_other_sources_are_not_called_and_the_error_says_what_to_run(tmp_path: Path) -> None:
    copy = tmp_path / "copied_loops"
    shutil.copytree(Path(native.__file__).parent, copy)
    assert load_from(copy) == ""
    header = copy / "native.h"
    header.write_text(f"{header.read_text()}/* Another argument. */\n")
    assert "compiled from other sources than are here: run `make install`" in load_from(copy)
    for compiled in copy.glob("*.so"):
        compiled.unlink()
    assert "not compiled: run `make install`" in load_from(copy)


def test_loops_of_a_time_without_a_fingerprint_are_not_called(tmp_path: Path) -> None:
    copy = tmp_path / "copied_loops"
    shutil.copytree(Path(native.__file__).parent, copy)
    source = copy / "products.c"
    source.write_text(source.read_text().replace("const char *compiled_from(void) { return SOURCES; }", ""))
    compiler = runpy.run_path(str(SERVICE / "hatch_build.py"))["find_compiler"]()
    for level in copy.glob("*.so"):
        level.unlink()
        sources = sorted(map(str, copy.glob("*.c")))
        command = [*compiler, "-std=c11", "-O1", "-fPIC", "-shared", "-o", str(level), *sources, "-lm"]
        subprocess.run(command, check=True)
    assert "compiled from other sources than are here" in load_from(copy)
