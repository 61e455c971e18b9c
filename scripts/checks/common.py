# SPDX-License-Identifier: Apache-2.0
"""Where is the repository, and what was found that breaks its rules?"""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
violations = []


def violation(where, what):
    violations.append(f"{where}: {what}")


def from_root(text):
    """A path, or what a compiler says of one, as seen from the root of the repository."""
    return text.replace(str(ROOT) + "/", "")
