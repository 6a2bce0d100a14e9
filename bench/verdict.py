# SPDX-License-Identifier: MIT
"""What measurements say about a goal, and whether more rounds would say more.

Values of two measurements at the same place were taken one right after the other: so their ratio is taken round by
round, and the median of these counts.  The best value is the least, or for rates the greatest: what the
machine can do when nothing else disturbs.  Where a goal is about a difference (what is added to something), it is the
ratio of the median differences.  A goal is met when both reach it; of what must not happen, every round counts.

There is no verdict on a difference that is less than its noise: the interval in which its median is, 95 times out of
100, is wider than the goal, or it is below zero by more than that.

A benchmark may have run several times.  Where all rounds together leave the verdict open ("at best", "median only",
"noise"), because the machine was busy, the steadiest pass decides: that in which best and median are least apart,
whatever it says, if these are at most 5 % apart.  If there is none, one more pass may help; if none is run any more,
the verdict says how far they are apart.
"""
import pathlib
import statistics
from typing import NamedTuple, Optional

AGREE = 0.05    # best and median are the same to this
OPEN = ("at best", "median only", "noise")


class Goal(NamedTuple):
    """MEASUREMENT (minus MINUS), in ratio to BASELINE (minus BASELINE_MINUS) if any, is at most or at least this; or it
    is only shown, where there is no limit.  INTEL: at most this on Intel's processors, whose clock waits for loads."""
    what: str
    bench: str
    measurement: str
    threads: int = 1
    minus: Optional[str] = None
    baseline: Optional[str] = None
    baseline_minus: Optional[str] = None
    baseline_bench: Optional[str] = None
    baseline_threads: Optional[int] = None
    at_most: Optional[float] = None
    at_least: Optional[float] = None
    intel: Optional[float] = None


class Measurement(NamedTuple):
    unit: str
    values: list     # of all passes that are looked at
    passes: list     # the values of each


def is_rate(measurement):
    return "/s" in measurement.unit


def best(measurement):
    return max(measurement.values) if is_rate(measurement) else min(measurement.values)


class Measured(NamedTuple):
    best: float
    median: float
    unit: str
    rounds: list
    noise: float = 0     # of a difference


def measure(measurements, bench, name, threads, minus):
    """What a goal is about: a measurement, or the difference of two.  None: not measured"""
    found = measurements.get((bench, name, threads))
    if not found:
        return None
    if minus is None:
        return Measured(best(found), statistics.median(found.values), found.unit, found.values)
    other = measurements.get((bench, minus, threads))
    if not other:
        return None
    rounds = [a - b for a, b in zip(found.values, other.values)]
    return Measured(best(found) - best(other), statistics.median(rounds), found.unit, rounds, noise_of(rounds))


def noise_of(rounds):
    """Half of the interval in which the median is, 95 times out of 100; what lies below zero is noise, too"""
    if len(rounds) < 4:
        return 0
    quarters = statistics.quantiles(rounds, n=4)
    return max(1.57 * (quarters[2] - quarters[0]) / len(rounds) ** 0.5, -statistics.median(rounds))


def compare(goal, measurements):
    """(what was measured, its baseline or None, (best ratio, median ratio)); None: not measured"""
    measured = measure(measurements, goal.bench, goal.measurement, goal.threads, goal.minus)
    if not measured:
        return None
    if goal.baseline is None:
        return measured, None, (measured.best, measured.median)
    base = measure(measurements, goal.baseline_bench or goal.bench, goal.baseline,
                   goal.baseline_threads or goal.threads, goal.baseline_minus)
    if not base or base.best <= 0 or base.median <= 0:
        return None
    pairs = list(zip(measured.rounds, base.rounds))
    if goal.minus is None and goal.baseline_minus is None and goal.baseline_bench is None:
        median = statistics.median(a / b for a, b in pairs if b)
    else:
        median = measured.median / base.median
    return measured, base, (measured.best / base.best, median)


def cpuinfo():
    return pathlib.Path("/proc/cpuinfo").read_text()


def most_of(goal):
    return goal.intel if goal.intel is not None and "GenuineIntel" in cpuinfo() else goal.at_most


def verdict(goal, measured, base, best_ratio, median_ratio):
    """base: the baseline, or None"""
    most = most_of(goal)

    def reaches(value):
        return value <= most if most is not None else value >= goal.at_least

    if most is None and goal.at_least is None:
        return ""
    noise = measured.noise + (abs(median_ratio) * base.noise if base else 0)
    if most and noise > most * (base.median if base else 1):
        return "noise"
    if most == 0:   # what must not happen
        return "yes" if max(measured.rounds) <= 0 else "**no**"
    if reaches(median_ratio):
        return "yes" if reaches(best_ratio) else "median only"
    return "at best" if reaches(best_ratio) else "**no**"


class Judged(NamedTuple):
    """A row of the table: what was measured, its baseline or None, the ratios at best and in the median"""
    measured: Measured
    base: Optional[Measured]
    ratios: tuple
    verdict: str
    is_decided: bool = True     # more rounds would not change it


def apart(ratios):
    """How far best and median are apart, as a part of the best"""
    best_ratio, median_ratio = ratios
    if best_ratio == median_ratio:
        return 0
    return abs(median_ratio - best_ratio) / abs(best_ratio) if best_ratio else float("inf")


def judge_rounds(goal, measurements):
    """By all rounds that are there.  None: not measured"""
    result = compare(goal, measurements)
    if not result:
        return None
    return Judged(*result, verdict(goal, *result[:2], *result[2]))


def pass_of(measurements, bench, index):
    """The measurements as if this had been the only pass of the benchmark"""
    return {key: found._replace(values=found.passes[index]) if key[0] == bench and index < len(found.passes) else found
            for key, found in measurements.items()}


def judge(goal, measurements):
    """None: not measured"""
    together = judge_rounds(goal, measurements)
    if not together or together.verdict not in OPEN:
        return together
    passes = len(measurements[goal.bench, goal.measurement, goal.threads].passes)
    steady = []
    for index in range(passes):
        judged = judge_rounds(goal, pass_of(measurements, goal.bench, index))
        if judged and judged.verdict != "noise" and apart(judged.ratios) <= AGREE:
            steady.append((apart(judged.ratios), index, judged))
    if steady:
        _, index, judged = min(steady, key=lambda found: found[:2])
        return judged._replace(verdict=f"{judged.verdict} (pass {index + 1})" if passes > 1 else judged.verdict)
    if together.verdict == "noise":
        return together._replace(is_decided=False)
    return together._replace(verdict=f"{together.verdict}, {100 * apart(together.ratios):.0f} % apart", is_decided=False)
