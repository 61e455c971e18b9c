# SPDX-License-Identifier: Apache-2.0
"""Which figures of an analysis are compared, and how are they printed?"""


def sequential(analysis, figure):
    return analysis[figure]["sequential"]["ns"]


def at_one_clock(analysis):
    """The bound at the clock at which its chain on registers takes a microsecond."""
    return 1000 * sequential(analysis, "bound") / (analysis["bound_clock_ns"] or 1000)


def expected_at_one_clock(analysis):
    """The prediction of what a plan runs, at the clock at which the chain on registers takes a microsecond."""
    e = analysis["expected"]
    return e["still_ns"] + 1000 * e["ns_per_clock_ns"] if "still_ns" in e else e["ns"]


def ms(ns):
    return f"{ns / 1e6:9.3f}"


def percent(ratio):
    return f"{100 * ratio:+7.2f} %"


def shown(ns):
    return ms(ns) if ns else f"{'-':>9}"


def ratio_shown(ratio, width):
    return f"{ratio:{width}.3f}" if ratio else f"{'-':>{width}}"


def header(*columns):
    line = "  ".join(columns)
    print("\n" + line + "\n" + "-" * len(line), flush=True)
