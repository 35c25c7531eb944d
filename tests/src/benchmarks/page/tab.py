"""A tab of somebody who is signed in, and what the browser says of its time and memory."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_SIZE = {"width": 1920, "height": 1080}
_RECORDING = """
    globalThis.recorded = { keys: [], frames: [] };
    new PerformanceObserver(list => {
        for (const one of list.getEntries()) if (one.name === "keydown") recorded.keys.push(one.duration);
    }).observe({ type: "event", durationThreshold: 16 });
    const real = requestAnimationFrame.bind(globalThis);
    globalThis.requestAnimationFrame = run => real(at => {
        const began = performance.now();
        run(at);
        recorded.frames.push({ at, took: performance.now() - began });
    });
"""
_WATCHING = """
    globalThis.changed = 0;
    new MutationObserver(() => { changed = performance.now(); })
        .observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
"""
_WHOLE = """() => document.querySelector("main h1")
    && !document.querySelector("main [aria-busy=true], main [role=status][aria-label]")
    && performance.now() - changed > 500 && changed"""
"""When the page last changed, if it waits for nothing and has been still for half a second."""
_SLOW_LINE = {"offline": False, "latency": 40, "downloadThroughput": 9e6 / 8, "uploadThroughput": 9e6 / 8}
_FAST_LINE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


class Tab:
    """The page at 1920 x 1080, as its users see it."""

    def __init__(self, browser: Any, base_url: str, who: Mapping[str, str]) -> None:
        context = browser.new_context(base_url=base_url, viewport=_SIZE)
        assert context.request.post("/session", data=dict(who), headers={"Origin": base_url}).ok
        context.add_init_script(_RECORDING)
        self.page = context.new_page()
        self._tools = context.new_cdp_session(self.page)
        self._tools.send("Performance.enable")

    def open(self, path: str) -> None:
        """Load a screen of the project anew."""
        self.page.goto(f"/p/MAIN{path}")

    def watch(self) -> None:
        """From the next screen on, record when it changes."""
        self.page.add_init_script(_WATCHING)

    def whole(self) -> float:
        """Wait until a watched screen waits for nothing more; return how long that took from its opening, in ms."""
        return float(self.page.wait_for_function(_WHOLE).json_value())

    @contextmanager
    def slowed(self) -> Iterator[None]:
        """Be a quarter as fast, behind a line of 9 Mbit/s, for the time of the block."""
        self._be(4, _SLOW_LINE)
        try:
            yield
        finally:
            self._be(1, _FAST_LINE)

    def _be(self, rate: int, line: Mapping[str, Any]) -> None:
        self._tools.send("Emulation.setCPUThrottlingRate", {"rate": rate})
        self._tools.send("Network.emulateNetworkConditions", dict(line))

    def recorded(self, what: str) -> list[Any]:
        """Return what was recorded of `keys` or `frames` since the last time, in milliseconds."""
        self.page.wait_for_timeout(300)  # the browser tells of events a moment later
        told: list[Any] = self.page.evaluate("what => recorded[what].splice(0)", what)
        return told

    def script_seconds(self) -> float:
        """Return for how long scripts have run."""
        return self._metric("ScriptDuration")

    def work_seconds(self) -> float:
        """Return for how long the page's thread has worked since the screen was opened."""
        return self._metric("TaskDuration")

    def heap_megabytes(self) -> float:
        """Return what is still needed of the heap."""
        self._tools.send("HeapProfiler.collectGarbage")
        return self._metric("JSHeapUsedSize") / 2**20

    def _metric(self, name: str) -> float:
        metrics = self._tools.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == name))
