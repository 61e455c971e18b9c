# SPDX-License-Identifier: Apache-2.0
"""python -m benanza model.onnx; or python <this folder> model.onnx."""

import sys
from pathlib import Path

if not __package__:  # called as a folder
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
from benanza.door import main  # noqa: E402: it is found there

sys.exit(main())
