# SPDX-License-Identifier: Apache-2.0
"""What cannot be measured, and on which processors does what can?"""

import os


class Refused(Exception):
    """What cannot be measured, in one line."""


def one_line(text):
    return " ".join(str(text).split())[:400]


def bind(threads):
    allowed = sorted(os.sched_getaffinity(0))
    if threads < 1 or threads > len(allowed):
        raise Refused(f"--threads {threads}: this process may use {len(allowed)} processors")
    os.sched_setaffinity(0, allowed[:threads])
    return allowed[:threads]
