"""The scale of the queue: one algorithm for all that is pending, that of the last run which scored it anew.

Before there is such a run, and once the algorithm that the project or AUTO_SUGGESTIONS_ALGORITHM names has been changed
after it, it is that of the setting.
Whoever stores scores compares them with the scale that holds then, under the lock of the corpus: a run sets another one
under it, too.
"""

from dataclasses import dataclass, replace
from typing import Self

from chassis.db.database import Connection
from suggestion_service.engine import Algorithm
from suggestion_service.settings import Settings
from suggestion_service.store import projects, runs


class ScaleChanged(Exception):
    """Scores were worked out for a scale that holds no longer."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What the background scores by: `algorithm`, and `threshold`, which a setting says; if `automatic`, else nothing.

    The run that set the scale has left out pairs below `left_out_below` whose texts are no later than `seen` in
    catalog's feed: the background leaves them out, too.
    """

    automatic: bool
    algorithm: Algorithm
    threshold: float
    left_out_below: float = 0.0
    seen: int = 0

    @property
    def lowest_score(self) -> float:
        """The score below which neither the background nor the run would have suggested a pair."""
        return min(self.threshold, self.left_out_below) if self.seen else self.threshold

    def admits(self, score: float, latest_text: int) -> bool:
        """Check whether the background may suggest a pair at or above its threshold; by the later of its two texts."""
        return score >= self.left_out_below or latest_text > self.seen


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a project wants: whether items are scored in the background (`automatic`), by what, and from which score."""

    automatic: bool
    algorithm: Algorithm
    threshold: float


@dataclass(frozen=True, slots=True)
class Scales:
    """Reads what a project wants, and the scale that holds in it; made of the settings, which are the defaults."""

    algorithm: Algorithm
    threshold: float
    automatic: bool = True

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return those of the service's settings."""
        return cls(
            settings.auto_suggestions_algorithm, settings.auto_suggestions_threshold, settings.auto_suggestions_enabled
        )

    async def wishes(self, connection: Connection) -> Wishes:
        """Return what the project wants."""
        project = await projects.get(connection)
        return Wishes(
            self.automatic if project.automatic_suggestions is None else project.automatic_suggestions,
            self.algorithm if project.algorithm is None else project.algorithm,
            self.threshold if project.threshold is None else project.threshold,
        )

    async def current(self, connection: Connection) -> Scale:
        """Return the scale of the queue as it is now."""
        wishes = await self.wishes(connection)
        run = await runs.last_scale(connection)
        if run is None or run["background"] != wishes.algorithm:
            return Scale(wishes.automatic, wishes.algorithm, wishes.threshold)
        return Scale(wishes.automatic, run["algorithm"], wishes.threshold, run["threshold"], run["seen"])

    async def of_run(self, connection: Connection) -> Wishes:
        """Return what a run is to be asked for that changes nothing of the scale: as the run that set it."""
        wishes = await self.wishes(connection)
        run = await runs.last_scale(connection)
        if run is None or run["background"] != wishes.algorithm:
            return wishes
        return replace(wishes, algorithm=run["algorithm"], threshold=run["threshold"])

    async def confirm(self, connection: Connection, scale: Scale) -> None:
        """Raise ScaleChanged when another scale holds; the corpus must be locked."""
        if await self.current(connection) != scale:
            raise ScaleChanged
