# SPDX-License-Identifier: Apache-2.0
"""Is a page short enough, and is each file there that it links to?"""

import re

from checks.common import ROOT, violation

LONGEST_PAGE = 900  # words outside tables and code
LONG_PAGES = (".github/CHANGELOG.md", ".github/OTHERS.md")


def check_page(path):
    text = re.sub(r"^\s*```.*?^\s*```", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    words = sum(len(line.split()) for line in text.splitlines() if not line.lstrip().startswith("|"))
    if words > LONGEST_PAGE and path not in LONG_PAGES:
        violation(path, f"{words} words outside tables and code: a page has at most {LONGEST_PAGE}")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if ":" not in target and not (ROOT / path).parent.joinpath(target).exists():
            violation(path, f"links to {target}, which is not there")
