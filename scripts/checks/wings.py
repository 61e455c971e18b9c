# SPDX-License-Identifier: Apache-2.0
"""What is the ground, what is a wing? The table of include/benanza/wings.md, held against the includes."""

import re

from checks.common import ROOT, violation
from checks.includes import INCLUDE, target_of

PAGE = "include/benanza/wings.md"
PROGRAMS = "analyzer/", "generator/", "include/benanza/bench/", "include/benanza/advice/"  # where wings come together
FOLDER_HEADER = re.compile(r"include/benanza/\w+\.hpp")  # one a folder, with all that is in it, for users


class Wing:
    """A row of the table. `files`: beginnings of paths; `doors`: who on the ground may include it; `needs`: which
    wings it may include."""

    def __init__(self, name, files, doors, needs):
        self.name, self.files, self.doors, self.needs = name, files, doors, needs


def path_of(word):
    """Words of the table leave include/benanza/ out, and how a file's name ends."""
    return word if word.startswith(("analyzer/", "generator/")) else "include/benanza/" + word


def wings():
    """The rows of the table."""
    rows = []
    for line in (ROOT / PAGE).read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 5:
            words = [re.findall(r"`([^`]+)`", c) for c in cells]
            rows.append(Wing(words[0][0], [path_of(w) for w in words[2]], {path_of(w) for w in words[3]}, set(words[4])))
    return rows


def wing_of(path, rows):
    """The wing that a file belongs to: the one that names most of its path; None: the ground."""
    found = [(len(f), w) for w in rows for f in w.files if path.startswith(f)]
    return max(found, key=lambda m: m[0])[1] if found else None


def check_wings(sources):
    """The ground includes a wing through its doors alone, and a wing those that it needs."""
    rows, used = wings(), set()
    for path in sources:
        if not path.startswith(("include/benanza/", "analyzer/", "generator/")) or FOLDER_HEADER.fullmatch(path):
            continue
        own = wing_of(path, rows)
        door = re.sub(r"\.\w+$", "", path)
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
            include = INCLUDE.match(line)
            target = include and target_of(path, *include.groups())
            other = target and wing_of(target, rows)
            if not other or other is own:
                continue
            if own is None and door not in other.doors:
                violation(f"{path}:{number}", f"the ground includes the wing {other.name} through its doors alone ({PAGE})")
            if own is not None and other.name not in own.needs:
                violation(f"{path}:{number}", f"the wing {own.name} does without {other.name} ({PAGE})")
            used.add((own.name if own else door, other.name))
    for w in rows:
        for f in w.files:
            if not any(p.startswith(f) for p in sources):
                violation(PAGE, f"{w.name}: there is no {f}")
        for d in w.doors:
            if (d, w.name) not in used:
                violation(PAGE, f"{w.name}: {d} is no door of it")
            if not d.startswith(PROGRAMS):
                violation(PAGE, f"{w.name}: {d} is no place for a door; those are in {', '.join(PROGRAMS)}")
        for n in w.needs:
            if (w.name, n) not in used:
                violation(PAGE, f"{w.name} does not need {n}")


def count_lines(sources):
    """Prints how many lines the ground has, and each wing."""
    rows, lines = wings(), {}
    for path in sources:
        if path.startswith(("include/benanza/", "analyzer/", "generator/")):
            w = wing_of(path, rows)
            name = w.name if w else "ground"
            lines[name] = lines.get(name, 0) + len((ROOT / path).read_text(encoding="utf-8").splitlines())
    for name, n in sorted(lines.items(), key=lambda x: -x[1]):
        print(f"{name:<12} {n:>7}")
