"""What a command prints: answers to stdout, everything else to stderr; colours on a terminal alone."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


@dataclass(slots=True)
class Terminal:
    """Where a command writes; with `as_json` its answer is one JSON document."""

    as_json: bool = False
    has_answered: bool = False
    out: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))
    err: Console = field(default_factory=lambda: Console(stderr=True, highlight=False, soft_wrap=True))

    def answer(self, document: Any, *lines: str) -> None:
        """Print the answer: as JSON, or as lines for people."""
        self.has_answered = True
        if self.as_json:
            self.document(document)
            return
        for line in lines:
            self.out.print(line, markup=False)

    def document(self, document: Any) -> None:
        """Write a JSON document, which is UTF-8 whatever the terminal is."""
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))

    def say(self, line: str) -> None:
        """Print what goes on."""
        self.err.print(line, markup=False)

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[dict[str, Any]], None]]:
        """Show how far a job is: a bar on a terminal, elsewhere a line each tenth."""
        if not self.err.is_terminal:
            shown = 0

            def line(job: dict[str, Any]) -> None:
                nonlocal shown
                tenths = int(10 * (job.get("progress") or 0))
                if tenths > shown:
                    shown = tenths
                    self.say(f"{what}: {tenths * 10} %")

            yield line
            return
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
        with Progress(*columns, TimeElapsedColumn(), console=self.err, transient=True) as bar:
            task = bar.add_task(what, total=1.0)
            yield lambda job: bar.update(task, completed=job.get("progress") or 0, description=job.get("phase") or what)
