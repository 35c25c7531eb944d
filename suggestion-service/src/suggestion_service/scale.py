"""The scale of the queue: one algorithm for all that is pending, that of the last run which scored it anew.

Before there is such a run, and once AUTO_SUGGESTIONS_ALGORITHM has been changed after it, it is that of the setting.
Whoever stores scores compares them with the scale that holds then, under the lock of the corpus: a run sets another one
under it, too.
"""

from dataclasses import dataclass

from chassis.db.database import Connection
from suggestion_service.engine import Algorithm
from suggestion_service.store import runs


class ScaleChanged(Exception):
    """Scores were worked out for a scale that holds no longer."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What the background scores by: `algorithm`, and `threshold`, which a setting says.

    The run that set the scale has left out pairs below `left_out_below` whose texts are no later than `seen` in
    catalog's feed: the background leaves them out, too.
    """

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
class Scales:
    """Reads the scale that holds; made of the settings of the background."""

    algorithm: Algorithm
    threshold: float

    async def current(self, connection: Connection) -> Scale:
        """Return the scale of the queue as it is now."""
        run = await runs.last_scale(connection)
        if run is None or run["background"] != self.algorithm:
            return Scale(self.algorithm, self.threshold)
        return Scale(run["algorithm"], self.threshold, run["threshold"], run["seen"])

    async def of_run(self, connection: Connection) -> tuple[Algorithm, float]:
        """Return algorithm and threshold of a run that changes nothing of the scale: those of the run that set it."""
        run = await runs.last_scale(connection)
        if run is None or run["background"] != self.algorithm:
            return self.algorithm, self.threshold
        return run["algorithm"], run["threshold"]

    async def confirm(self, connection: Connection, scale: Scale) -> None:
        """Raise ScaleChanged when another scale holds; the corpus must be locked."""
        if await self.current(connection) != scale:
            raise ScaleChanged
