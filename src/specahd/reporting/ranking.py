"""Ranking of methods by cost: paired differences on common instances and seeds.

Every 95% interval is made here: :func:`difference` is for instances and seeds, both drawn,
:func:`mean_interval` for values of instances alone.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import exp, inf, isfinite, log, nan, sqrt
from statistics import fmean, stdev
from types import MappingProxyType

import numpy as np
from scipy.special import stdtrit

from specahd.evaluation.rows import mean_or_nan
from specahd.reporting.document import Part, Strong, Table, format_percent
from specahd.routing.base import FloatArray

_RESAMPLES = 10_000
_LEVELS = (2.5, 97.5)
"""Percentiles of the bootstrap that bound a 95% interval."""
_ERROR = 0.05
"""The probability that some group differs in the table by size where none does."""
_FEWEST = 10
"""A group with fewer instances has no interval: it is told as so many instances."""
_TIE = 1e-9
"""Largest relative difference of costs that counts as a tie."""
LIMITED = "*"
"""Marks the groups that are shown and not compared."""
HOW_TO_READ = (
    "Runs that differ only in their seed count as one method, or as one setting. The cost of an "
    "instance is the mean over the seeds. A difference is the geometric mean over the instances of "
    "the ratio to the cheapest method's cost, minus 1. Its 95% interval is a paired bootstrap over "
    "instances and seeds: both are drawn, each by itself. ± is the sample standard deviation over "
    "the seeds. Two methods differ if the interval excludes 0 and the difference exceeds the "
    "larger of their deviations. One seed has no deviation and cannot separate methods. By size, "
    "a difference is bold if it differs from 0 after Holm's correction over the groups; a group "
    "of fewer than ten instances has no interval, and tells on how many the costs are higher. "
    "Wins, ties and losses "
    "count instances: against the cheapest other method on each instance, against each reference, "
    "and against the baseline solver, B."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """The costs of a method or a reference.

    Parameters
    ----------
    name
        Its name in tables.
    seeds
        For each seed, the costs by instance; failed instances are left out. A reference has one
        such mapping.
    reference
        Whether it is an untrained solver, which has no deviation over seeds.
    """

    name: str
    seeds: Sequence[Mapping[str, float]]
    reference: bool = False

    def solved(self) -> set[str]:
        """Return the instances that are solved with every seed, at a cost above 0."""
        solved = [{name for name, cost in costs.items() if cost > 0} for costs in self.seeds]
        return set.intersection(*solved) if solved else set()

    def cost(self, instance: str) -> float:
        """Return the mean cost of an instance over the seeds."""
        return mean_or_nan(costs[instance] for costs in self.seeds)

    def costs(self, instances: Sequence[str]) -> FloatArray:
        """Return the costs, shape (seeds, instances)."""
        return np.array([[costs[name] for name in instances] for costs in self.seeds])


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference in cost of one entry to another, as a share of the other's costs.

    Parameters
    ----------
    share
        Geometric mean of the cost ratios over the instances, minus 1.
    low, high
        The bounds of its 95% interval; nan for a single instance.
    chance
        p of a difference of 0, two-sided, by the same bootstrap; nan for a single instance.
    deviation
        The larger of the two deviations over seeds; nan if an entry has a single seed.
    """

    share: float
    low: float
    high: float
    deviation: float
    chance: float = nan

    @property
    def certain(self) -> bool:
        """Whether the interval excludes 0 and the share exceeds the deviation over seeds."""
        return self.low * self.high > 0 and abs(self.share) > self.deviation


def difference(entry: Entry, other: Entry, instances: Sequence[str]) -> Difference:
    """Return the difference of two entries, on at least one instance that both solved.

    The interval is that of a percentile bootstrap for two crossed factors: instances are drawn with
    replacement, and seeds too, independently of them; each draw takes whole rows and columns of
    costs. It is a little wide rather than too narrow (A. B. Owen, The pigeonhole bootstrap, Annals
    of Applied Statistics 1(2), 2007). Entries with equally many seeds are paired by seed too.
    """
    ratios = np.array([log(entry.cost(name) / other.cost(name)) for name in instances])
    if len(ratios) < 2:
        return Difference(exp(ratios[0]) - 1, nan, nan, nan)
    rng = np.random.default_rng(0)
    ours, theirs = entry.costs(instances), other.costs(instances)
    drawn = _seed_weights(rng, len(ours))
    others = drawn if len(ours) == len(theirs) else _seed_weights(rng, len(theirs))
    logs = np.log((drawn @ ours) / (others @ theirs))
    places = rng.integers(len(ratios), size=(_RESAMPLES, len(ratios)))
    means = np.take_along_axis(logs, places, axis=1).mean(axis=1)
    low, high = np.percentile(means, _LEVELS)
    tail = 1 + min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
    deviations = deviation(entry, instances), deviation(other, instances)
    return Difference(
        share=exp(ratios.mean()) - 1,
        low=exp(low) - 1,
        high=exp(high) - 1,
        deviation=max(deviations) if all(map(isfinite, deviations)) else nan,
        chance=min(1.0, 2 * tail / (_RESAMPLES + 1)),
    )


def _seed_weights(rng: np.random.Generator, seeds: int) -> FloatArray:
    """Return how often each seed is drawn, as a share, shape (resamples, seeds)."""
    return rng.multinomial(seeds, [1 / seeds] * seeds, size=_RESAMPLES) / seeds


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return a mean and half of its 95% interval, by Student's t; inf for a single value."""
    count = len(values)
    if count < 2:
        return fmean(values), inf
    return fmean(values), float(stdtrit(count - 1, 0.975)) * stdev(values) / sqrt(count)


def holm(chances: Sequence[float]) -> list[float]:
    """Return p of several comparisons, adjusted by the step-down method; nan stays nan.

    Reference: S. Holm, Scandinavian Journal of Statistics 6(2), 1979.
    """
    adjusted = list(chances)
    places = sorted(
        (place for place, each in enumerate(chances) if isfinite(each)), key=chances.__getitem__
    )
    largest = 0.0
    for rank, place in enumerate(places):
        largest = max(largest, min(1.0, (len(places) - rank) * chances[place]))
        adjusted[place] = largest
    return adjusted


def deviation(entry: Entry, instances: Sequence[str]) -> float:
    """Return the sample deviation over seeds of costs divided by their means; 0 of a reference."""
    if entry.reference:
        return 0.0
    if len(entry.seeds) < 2:
        return nan
    means = {name: entry.cost(name) for name in instances}
    return stdev(
        mean_or_nan(costs[name] / means[name] for name in instances) for costs in entry.seeds
    )


def compare(
    problem: str,
    entries: Sequence[Entry],
    sizes: Mapping[str, Sequence[str]],
    budget: str,
    noun: str = "method",
    *,
    limited: Mapping[str, str] = MappingProxyType({}),
    pairs: bool = False,
) -> list[Part]:
    """Return text and tables that compare methods; an empty list if nothing can be compared.

    A reference that lacks an instance that all methods solve is left out.

    Parameters
    ----------
    sizes
        The instances of each size, by the label of the size in tables.
    budget
        Budget of each run, in words (``60 programs``).
    noun
        Word for an entry that is not a reference: ``method``, or ``setting`` of one.
    limited
        By the label of a size that is shown and not compared, since limits decide it: whose calls
        ended in one, in words.
    pairs
        Whether a table compares every two entries, too.
    """
    entries = [entry for entry in entries if entry.seeds]
    methods = [entry for entry in entries if not entry.reference]
    solved = set.intersection(*(entry.solved() for entry in methods)) if methods else set()
    entries = [entry for entry in entries if not entry.reference or solved <= entry.solved()]
    common = {size: [name for name in names if name in solved] for size, names in sizes.items()}
    compared = [names for size, names in common.items() if size not in limited]
    instances = list(chain.from_iterable(compared))
    if len(methods) < 2 or not instances:
        return [undecided(limited)] if limited else []
    entries.sort(key=lambda entry: mean_or_nan(log(entry.cost(each)) for each in instances))
    of = _Comparison(entries, instances, noun)
    scope = f"{_counted(len(instances), 'instance')}, {_counted(len(of.best.seeds), 'seed')}"
    scope += f" of {budget}"
    missing = sum(map(len, sizes.values())) - sum(map(len, common.values()))
    if missing:
        scope += f"; left out: {_counted(missing, 'instance')} that not every {noun} solves"
    return [
        f"{of.answer(methods)} ({scope}.)",
        of.overall(f"{problem}-better"),
        "Wins, ties and losses.",
        of.wins(f"{problem}-wins"),
        "The same by size; in parentheses the number of instances, and the interval.",
        of.by_size(f"{problem}-better-by-size", common, limited),
        *([undecided(limited)] if limited else []),
        *(of.pairs(f"{problem}-pairs") if pairs else []),
    ]


def _listed(names: Sequence[str]) -> str:
    """Return names in a list; those of controls have commas of their own."""
    return ("; " if any("," in name for name in names) else ", ").join(names)


def undecided(limited: Mapping[str, str]) -> str:
    """Return a sentence on the groups that limits decide."""
    groups = "; ".join(f"{size}: {whose}" for size, whose in limited.items())
    return (
        f"{LIMITED} Shown and not compared: in these groups more than a tenth of the calls of a "
        f"row ended in a limit of time or memory ({groups})."
    )


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular or plural."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


class _Comparison:
    """Entries in the order of their costs, at least two methods, on instances that all solved."""

    def __init__(self, entries: Sequence[Entry], instances: Sequence[str], noun: str) -> None:
        self.entries, self.instances, self.noun = entries, instances, noun
        self.references = [entry for entry in entries if entry.reference]
        self.best = next(entry for entry in entries if not entry.reference)
        self.found = {
            entry.name: difference(entry, self.best, instances)
            for entry in entries
            if entry is not self.best
        }

    def answer(self, methods: Sequence[Entry]) -> str:
        """Return sentences on the methods, which are named in this order."""
        best, found, noun = self.best.name, self.found, self.noun
        rivals = [entry.name for entry in methods if entry is not self.best]
        alike = [name for name in rivals if not found[name].certain]
        dearer = [name for name in rivals if found[name].certain]
        if not alike:
            closest = min(dearer, key=lambda name: found[name].share)
            by = found[closest]
            text = (
                f"{best} finds cheaper solutions than every other {noun}; {closest}, the next, "
                f"costs {100 * by.share:.2f}% more (95% interval {100 * by.low:.2f} to "
                f"{100 * by.high:.2f}%)."
            )
        else:
            text = f"{best} has the lowest costs, but these runs cannot tell it from "
            text += f"{_listed(alike)}."
            if dearer:
                text += f" It finds cheaper solutions than {_listed(dearer)}."
        cheaper = [each.name for each in self.references if found[each.name].high < 0]
        if cheaper:
            text += f" Untrained references cheaper than every {noun}: {_listed(cheaper)}."
        for entry in methods:
            equal = [each.name for each in methods if each.seeds == entry.seeds]
            if equal[0] == entry.name and len(equal) > 1:
                text += f" Equal costs on every instance and seed: {_listed(equal)}."
        return text

    def overall(self, name: str) -> Table:
        """Return a table of the differences to the best method."""
        rows = []
        for entry in self.entries:
            spread = deviation(entry, self.instances)
            spread_cell = "–" if entry.reference or not isfinite(spread) else f"{100 * spread:.2f}"
            if entry is self.best:
                rows.append([entry.name, "cheapest", "–", spread_cell, "–"])
                continue
            by = self.found[entry.name]
            verdict = "no" if not by.certain else "cheaper" if by.share < 0 else "dearer"
            rows.append([entry.name, format_percent(by.share), _bounds(by), spread_cell, verdict])
        columns = (self.noun, "difference", "interval", "±", "differs")
        return Table(columns, rows, name=name)

    def wins(self, name: str) -> Table:
        """Return a table of each entry's results, in cells ``wins / ties / losses``."""
        rows = []
        for entry in self.entries:
            opponents = [
                [each for each in self.entries if not each.reference and each is not entry],
                *([each] if each is not entry else [] for each in self.references),
            ]
            rows.append([entry.name, *(self._results(entry, rivals) for rivals in opponents)])
        columns = (self.noun, f"other {self.noun}s", *(entry.name for entry in self.references))
        return Table(columns, rows, name=name)

    def pairs(self, name: str) -> list[Part]:
        """Return a table of every two entries, the one with the lower costs first."""
        rows = []
        for cheaper, dearer in combinations(self.entries, 2):
            by = difference(dearer, cheaper, self.instances)
            spread = f"{100 * by.deviation:.2f}" if isfinite(by.deviation) else "–"
            numbers = [format_percent(by.share), _bounds(by), spread]
            verdict = self._results(cheaper, [dearer]), "yes" if by.certain else "no"
            rows.append([cheaper.name, dearer.name, *numbers, *verdict])
        columns = (self.noun, "other", "difference", "interval", "±", "instances", "differs")
        text = (
            "Every two: by how much the other costs more, the larger of their deviations over the "
            f"seeds, and the instances on which the {self.noun} costs less, as much, and more. "
            "Each interval is that of a single comparison: of twenty, one misses by chance."
        )
        return [text, Table(columns, rows, words=2, name=name)]

    def by_size(
        self, name: str, sizes: Mapping[str, Sequence[str]], limited: Collection[str]
    ) -> Table:
        """Return a table of the differences to the best method on the instances of each size."""
        known = {size: names for size, names in sizes.items() if names}
        rows = []
        for entry in self.entries:
            if entry is self.best:
                rows.append([Strong(entry.name), *["0"] * len(known)])
                continue
            each = [difference(entry, self.best, names) for names in known.values()]
            told = [len(names) >= _FEWEST and size not in limited for size, names in known.items()]
            chances = holm([by.chance if of else nan for by, of in zip(each, told, strict=True)])
            rows.append([entry.name])
            for (size, names), by, of, chance in zip(
                known.items(), each, told, chances, strict=True
            ):
                cell = format_percent(by.share)
                if of:
                    cell += f" ({_bounds(by)})"
                elif size not in limited:
                    _, _, dearer = against(entry, [self.best], names)
                    cell += f", dearer on {dearer} of {len(names)}"
                certain = chance < _ERROR and isfinite(by.deviation)
                rows[-1].append(Strong(cell) if certain else cell)
        heads = [head(size, len(names), limited) for size, names in known.items()]
        return Table((self.noun, *heads), rows, name=name)

    def _results(self, entry: Entry, rivals: Sequence[Entry]) -> str:
        results = against(entry, rivals, self.instances) if rivals else ["–"]
        return " / ".join(map(str, results))


def head(size: str, count: int | str, limited: Collection[str]) -> str:
    """Return the head of a size's column, marked where the size is not compared."""
    return f"{size} ({count})" + (f" {LIMITED}" if size in limited else "")


def against(
    entry: Entry, rivals: Sequence[Entry], instances: Sequence[str]
) -> tuple[int, int, int]:
    """Count wins, ties and losses against the cheapest rival on each instance."""
    wins = ties = 0
    for name in instances:
        rival = min(each.cost(name) for each in rivals)
        share = entry.cost(name) / rival - 1
        wins += share < -_TIE
        ties += abs(share) <= _TIE
    return wins, ties, len(instances) - wins - ties


def _bounds(by: Difference) -> str:
    return f"{100 * by.low:+.2f} to {100 * by.high:+.2f}" if isfinite(by.low) else "–"
