"""What one member's requests cost another: over all routes, how long GET /auth/me waits meanwhile, and alone.

Each case is measured in turns, alone and with the member, so that a drifting machine does both alike: once where it
keeps the bar clearly, up to four times where that is in doubt and ten minutes are not over. What breaks the bar is
measured once more at the end, and counts if it breaks it again.
"""

import re
import sys
from pathlib import Path
from statistics import mean

from acceptance.client import Traceline
from benchmarks.neighbours.cases import Case, cases_of
from benchmarks.neighbours.measuring import Measured, Neighbours
from benchmarks.neighbours.record import fill
from benchmarks.running import serving

BAR = 2.0
"""How many times as long as alone it may take, on average; the 95th percentile is shown beside."""


def main(folder: Path, routes: str = "") -> bool:
    """Print the table, a route a row; return whether each keeps the bar. `routes`: a pattern that finds some."""
    sys.setswitchinterval(0.0005)
    with serving(folder, "embedded") as server:
        admin = Traceline(str(server.client.base_url), token=server.token)
        known = fill(admin)
        member, other = admin.new_user("admin"), admin.new_user("viewer")
        document = server.client.get("/api/v1/openapi.json").raise_for_status().json()
        cases = [case for case in cases_of(document, known) if re.search(routes, f"{case.route} {case.what}")]
        neighbours = Neighbours(server.port, other.token or "", member.token or "")
        print(f"\nGET /auth/me of one member while another sends, {len(cases)} cases; at most {BAR:g} times as long")
        print(f"{'':58}{'':26}{'answers':>12}{'alone, ms':>11}{'with':>8}{'ratio':>7}{'p95':>8}{'with':>8}", flush=True)
        broken: list[tuple[Case, Measured]] = []
        for case in cases:
            measured = neighbours.measure(case, BAR)
            _print(case, measured)
            if measured.ratio > BAR:
                broken.append((case, measured))
        again = [(case, neighbours.measure(case, BAR)) for case, _ in broken]
        if again:
            print("\nOnce more, those that broke it")
        for case, measured in again:
            _print(case, measured)
        failed = [case for case, measured in again if measured.ratio > BAR]
        print(f"\n{len(cases) - len(failed)} of {len(cases)} keep the bar.", flush=True)
    return not failed


def _print(case: Case, measured: Measured) -> None:
    mark = " *" if measured.ratio > BAR else ""
    alone, meanwhile = (mean(seconds) * 1000 for seconds in (measured.alone, measured.meanwhile))
    slowest = "".join(f"{seconds * 1000:8.1f}" for seconds in measured.slowest)
    print(
        f"{case.route[:57]:58}{case.what[:25]:26}{measured.answers:>12}"
        f"{alone:11.1f}{meanwhile:8.1f}{measured.ratio:7.2f}{slowest}{mark}",
        flush=True,
    )
