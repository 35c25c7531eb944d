"""Which files are looked at: what of them is a record, what is a report, and what is neither."""

import io
import os
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from catalog_service.exchange import registry as records
from catalog_service.exchange.readers import doorstop, gherkin, openfasttrace, strictdoc
from catalog_service.exchange.records import Unreadable
from catalog_service.executions.readers import registry as results
from chassis.core.problems import Problem
from chassis.core.wording import counted
from chassis.files.archives import gunzipped, is_archive
from chassis.files.refused import FileRefused

_HEAD = 64 * 1024
_TREES = (strictdoc.FORMAT, gherkin.FORMAT, openfasttrace.FORMAT)
"""Formats whose files name one another's items: all of them are read as one."""
_ENOUGH = 0.5
"""From here on a file among others is taken for what it looks like."""
_FOR_PROGRAMS = (".xml", ".json", ".jsonl", ".ndjson", ".trx", ".tap", ".gz", ".zip", ".reqif", ".reqifz")
_TABLES = (".csv", ".tsv", ".xlsx", ".xlsm")
_NOT_OURS = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Source:
    """What is read at once: a file, or several of one format as an archive, with the name that a person knows it by."""

    name: str
    format: str
    files: tuple[Path, ...]
    content: bytes | None = None

    def open(self) -> BinaryIO:
        """Return what is read, seekable."""
        return self.files[0].open("rb") if self.content is None else io.BytesIO(self.content)


@dataclass(slots=True)
class Sources:
    """What lies below the paths.

    `unreadable` has a sentence a file, `others` how many files of which ending are of no format.
    """

    records: list[Source] = field(default_factory=list)
    reports: list[Source] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    @property
    def left_out(self) -> str:
        """A sentence about the files of folders that are of no format; empty where there are none."""
        if not self.others:
            return ""
        endings = ", ".join(sorted(ending or "without an ending" for ending in self.others))
        count = counted(self.others.total(), "file in the folders is", "files in the folders are")
        return f"{count} of no format that is read, and not looked at: {endings}."


def find_sources(paths: Sequence[Path]) -> Sources:
    """Return what lies below the paths, each file once, in the order of their names.

    A file that is named is to be read; in a folder there may be others. Raises OSError for a path that is not there.
    """
    found = Sources()
    trees: dict[str, list[Path]] = defaultdict(list)
    seen: set[Path] = set()
    for path in paths:
        if path.is_dir():
            files = [*_walk(path)]
            documents = {file.parent for file in files if file.name == doorstop.CONFIGURATION}
            of_doorstop = [file for file in files if not documents.isdisjoint(file.parents)]
            trees[doorstop.FORMAT.name] += of_doorstop
            seen.update(file.resolve() for file in of_doorstop)
            named = False
        else:
            files, named = [path], True
        for file in files:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                _place(file, found, trees, named=named)
    for name, files in trees.items():
        if files:
            found.records.append(_join_files(name, files))
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_OURS)
        for name in sorted(names):
            if not name.startswith(".") or name == doorstop.CONFIGURATION:
                yield Path(place, name)


def _place(file: Path, found: Sources, trees: dict[str, list[Path]], *, named: bool) -> None:
    name = file.name.lower()
    known = (*_FOR_PROGRAMS, *_TABLES, *(suffix for tree in _TREES for suffix in tree.suffixes))
    if not named and not name.endswith(known):
        found.others[file.suffix] += 1
        return
    try:
        with file.open("rb") as opened, gunzipped(opened) as plain:
            kind, format_name = _recognise(plain, name, named=named)
    except (Unreadable, FileRefused, Problem, OSError) as error:
        found.unreadable.append(f"{file}: {sentence_of(error)}")
        return
    if kind == "report":
        found.reports.append(Source(str(file), format_name, (file,)))
    elif kind == "record" and format_name in {tree.name for tree in _TREES} and not is_packed(file):
        trees[format_name].append(file)
    elif kind == "record":
        found.records.append(Source(str(file), format_name, (file,)))
    else:
        found.others[file.suffix] += 1


def _recognise(file: BinaryIO, name: str, *, named: bool) -> tuple[str, str]:
    """Return record, report or nothing, and the format; raise what says why a file is of none."""
    of_records = records.recognise_content(file, name)
    record, sure = max(of_records.items(), key=lambda one: one[1], default=("", 0.0))
    # A document of a person may show a report; TestLink's suites of cases look like those of JUnit.
    of_results = results.recognise_content(file, name) if named or name.endswith(_FOR_PROGRAMS) else {}
    report, as_sure = max(of_results.items(), key=lambda one: one[1], default=("", 0.0))
    if as_sure > sure:
        return "report", report
    if sure >= _ENOUGH or (sure and name.endswith(_TABLES)):
        return "record", record
    if named:
        with suppress(Problem):
            return "record", records.recognise(file, name, None).name
        return "report", results.recognise(file, name).name
    if name.endswith(_FOR_PROGRAMS):
        # What is too broken to say what it is says so; what is well-formed, and nothing of ours, is left out.
        with suppress(Problem):
            results.recognise(file, name)
    return "", ""


def is_packed(file: Path) -> bool:
    """Check whether a file is an archive."""
    with file.open("rb") as opened:
        return is_archive(opened.read(512))


def _join_files(format_name: str, files: list[Path]) -> Source:
    """Return files of one format as what is read at once: as one archive, where there are several."""
    if len(files) == 1:
        return Source(str(files[0]), format_name, (files[0],))
    # Names of an archive lead nowhere out of it, as paths of a person may.
    real = [file.resolve() for file in files]
    top = Path(os.path.commonpath([file.parent for file in real]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for file in real:
            # Not by its own time, which may be from before archives have times.
            archive.writestr(zipfile.ZipInfo(file.relative_to(top.parent).as_posix()), file.read_bytes())
    return Source(f"{os.path.relpath(top)} ({format_name})", format_name, tuple(files), packed.getvalue())


def sentence_of(error: Exception) -> str:
    """Return what an error says to a person, with the place where one is known."""
    said = getattr(error, "message", None) or getattr(error, "detail", None)
    if said is None:
        return f"{getattr(error, 'strerror', None) or error}."
    line = getattr(error, "line", None)
    return f"line {line}: {said}" if line is not None else str(said)
