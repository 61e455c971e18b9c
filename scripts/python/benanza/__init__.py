# SPDX-License-Identifier: Apache-2.0
"""How fast could a model run on this machine, why does it not, and what should be changed first?

>>> import benanza
>>> r = benanza.measure("resnet50.onnx", threads=[1, 2], framework="onnxruntime")
>>> r.bound.ms, r.prediction.ms      # of the setting that is expected to be the fastest
>>> r.advice                         # what to change, most first: a pandas frame, or a list of dicts
>>> r                                # in a notebook: the page
>>> benanza.store("benanza-results/results.db").runs     # what is kept, of all models

The programs do the work (benanza_generate, benanza_bench, benanza_analyze); what they refuse is an Error with their
one line. What was measured stays in a folder, and is not measured again: after Ctrl-C the same call goes on.
"""

from benanza.answer import Answer, Comparison, Interval, Setting
from benanza.programs import Error
from benanza.questions import Store, analyze, compare, measure, store, sweep

__all__ = ["Answer", "Comparison", "Error", "Interval", "Setting", "Store", "analyze", "compare", "measure", "store",
           "sweep"]
