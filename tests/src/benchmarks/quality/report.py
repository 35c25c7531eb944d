"""What `make quality` prints: the table of all methods, a line a data set, and the precision in the display bands."""

from collections.abc import Mapping, Sequence

from benchmarks.quality.labelled import LabelledSet
from benchmarks.quality.measures import BANDS, Band, Figures, mean, precision_rises

# By method, the figures of each data set.
Measured = Mapping[str, Sequence[Figures]]
_LINKS_FOR_BANDS = 100
_METHOD, _SET = 52, 36


def table(measured: Measured, left_out: Measured, data_sets: int) -> list[str]:
    """Return the macro means, a line a method; then those of sets that the calibration was not fitted on."""
    means = _means(f"Macro means over {data_sets} data sets", measured)
    if not left_out:
        return means
    return [
        *means,
        "",
        *_means("The same, each set scored by a calibration that was fitted on the other sets", left_out),
    ]


def _means(title: str, measured: Measured) -> list[str]:
    lines = [
        title,
        f"{'method':{_METHOD}}{'MAP':>8}{'AP':>8}{'best F1':>9}{'F1 at 0.3':>11}",
    ]
    for method, figures in measured.items():
        means = mean(figures)
        lines.append(f"{method:{_METHOD}}{means.map:8.3f}{means.ap:8.3f}{means.best_f1:9.3f}{means.f1:11.3f}")
    return lines


def each_set(measured: Measured, data_sets: Sequence[LabelledSet]) -> list[str]:
    """Return a line a data set, the methods side by side."""
    lines = [
        f"{'':{_SET}}" + "".join(f"   {method:<24}" for method in measured).rstrip(),
        f"{'requirements x test cases, links':{_SET}}" + f"{'MAP':>6}{'AP':>6}{'best':>7}{'at 0.3':>8}" * len(measured),
    ]
    for number, data_set in enumerate(data_sets):
        size = f"{len(data_set.row)} x {len(data_set.column)}, {data_set.links}"
        figures = "".join(
            f"{of.map:6.3f}{of.ap:6.3f}{of.best_f1:7.3f}{of.f1:8.3f}"
            for of in (of_method[number] for of_method in measured.values())
        )
        lines.append(f"{data_set.folder.name:<{_SET - 18}}{size:18}{figures}")
    return lines


def in_bands(counted: Mapping[str, Sequence[Sequence[Band]]], data_sets: Sequence[LabelledSet]) -> list[str]:
    """Return the precision in each display band, a line a data set and method; with a mark where it does not rise."""
    large = [(n, data_set) for n, data_set in enumerate(data_sets) if data_set.links >= _LINKS_FOR_BANDS]
    if not large:
        return [f"No data set has {_LINKS_FOR_BANDS} links or more, which the precision in the display bands needs."]
    lines = [
        f"Precision in each display band (and its suggestions), data sets with {_LINKS_FOR_BANDS} links or more",
        f"{'':28}" + "".join(f"{name:>16}" for name in reversed(BANDS)),
    ]
    for number, data_set in large:
        for method, of_method in counted.items():
            bands = of_method[number]
            shown = "".join(f"{_shown(band):>16}" for band in reversed(bands))
            mark = "" if precision_rises(bands) else "   does not rise"
            lines.append(f"{data_set.folder.name:18}{method:10}{shown}{mark}")
    return lines


def _shown(band: Band) -> str:
    return f"{band.precision:.2f} ({band.suggested})" if band.suggested else "-"
