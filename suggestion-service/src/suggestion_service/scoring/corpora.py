"""The corpora in memory, one a project: loaded when one is needed, and unloaded when it is idle and memory is short."""

import logging
from collections import OrderedDict

from chassis.core import projects
from chassis.db.database import Database
from suggestion_service.scoring.corpus import LiveCorpus, View

_log = logging.getLogger(__name__)


class Corpora:
    """The corpora of the projects that this process worked in last, in at most about `budget` bytes, but one always."""

    def __init__(self, database: Database, budget: int) -> None:
        self._database = database
        self._budget = budget
        self._by_project: OrderedDict[str, LiveCorpus] = OrderedDict()
        """Those that were used last come last."""

    @property
    def loaded(self) -> list[str]:
        """The projects whose corpus is in memory."""
        return list(self._by_project)

    async def refresh(self) -> View:
        """Return the corpus of the project that the caller works in, as its committed copy is now.

        Costs as much as changed since the last call; all of it, when the corpus had to go meanwhile.
        """
        project = projects.current.get()
        corpus = self._by_project.get(project)
        if corpus is None:
            corpus = self._by_project[project] = LiveCorpus(self._database)
        self._by_project.move_to_end(project)
        view = await corpus.refresh()
        self._unload(project)
        return view

    def _unload(self, used: str) -> None:
        """Drop corpora until the others fit, those first that were idle longest; who scores with one goes on."""
        size = sum(corpus.size for corpus in self._by_project.values())
        for project in self.loaded:
            if size <= self._budget:
                return
            if project != used:
                size -= self._by_project.pop(project).size
                _log.info(
                    "The corpus of %s is unloaded: it was idle, and SUGGESTIONS_CORPUS_MEMORY_MB is short", project
                )
