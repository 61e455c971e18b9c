# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all, and the archives in which they travel."""

import gzip
import io
import json
import tarfile
from pathlib import Path

from frameworks.common import write_whole
from gpu.common import Refused

MOST_ARCHIVE_BYTES = 15 << 20
JOURNAL = ".unfinished"  # what a run that was stopped leaves in place of NAME.json.gz


def keep(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, gzip.compress(json.dumps(value).encode(), mtime=0))


def kept(path):
    """What was kept there; None if nothing, or not whole."""
    try:
        with gzip.open(path, "rb") as f:
            return json.loads(f.read())
    except (OSError, EOFError, ValueError):
        return None


def parts_of(out, stage):
    return sorted(out.glob(f"{stage}.tar.[0-9]*"))


def unpack(out, work, stage):
    """Unpacks what an earlier command left, unless that was done."""
    parts = parts_of(out, stage)
    if (work / stage).exists() or not parts:
        return
    try:
        whole = b"".join(p.read_bytes() for p in parts)
        with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
            for member in tar.getmembers():
                path = Path(member.name)
                if member.isfile() and len(path.parts) == 2 and path.parts[0] == stage:
                    (work / stage).mkdir(parents=True, exist_ok=True)
                    text = tar.extractfile(member).read()
                    if path.name.endswith(JOURNAL + ".gz"):
                        path, text = path.with_suffix(""), gzip.decompress(text)
                    (work / path).write_bytes(text)
    except (OSError, EOFError, tarfile.TarError) as e:
        raise Refused(f"{parts[0]} cannot be read ({e}); remove it to begin anew")


def pack_up(out, work, stage):
    folder = work / stage
    files = [f for f in sorted(folder.iterdir()) if f.is_file() and f.suffix != ".old" and not f.name.startswith(".")] \
        if folder.is_dir() else []
    if not files:
        return
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as tar:
        for file in files:
            if file.suffix == JOURNAL:  # text, of megabytes
                packed = gzip.compress(file.read_bytes(), mtime=0)
                member = tarfile.TarInfo(f"{stage}/{file.name}.gz")
                member.size = len(packed)
                tar.addfile(member, io.BytesIO(packed))
            else:
                tar.add(file, f"{stage}/{file.name}")
    text = whole.getvalue()
    before = parts_of(out, stage)
    for i in range(0, max(len(text), 1), MOST_ARCHIVE_BYTES):
        path = out / f"{stage}.tar.{i // MOST_ARCHIVE_BYTES}"
        write_whole(path, text[i:i + MOST_ARCHIVE_BYTES])
        before = [p for p in before if p != path]
    for path in before:
        path.unlink()
