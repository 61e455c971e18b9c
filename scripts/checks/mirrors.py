# SPDX-License-Identifier: Apache-2.0
"""Which headers does no test mirror?"""

import os
import sys

from checks.includes import area_of


def warn_about_tests(files):
    """Tests mirror headers: names, folder by folder, the headers that no file under tests/ mirrors."""
    present, missing = set(files), {}
    for f in files:
        if area_of(f) and f.startswith("include/") and f.endswith(".hpp") and "/detail/" not in f:
            mirror = "tests/" + f[len("include/benanza/"):-len(".hpp")] + ".cpp"
            if mirror not in present:
                missing.setdefault(os.path.dirname(f), []).append(os.path.basename(f))
    for folder, headers in sorted(missing.items()):
        print(f"warning: {folder}: no test mirrors {', '.join(headers)}", file=sys.stderr)
