"""How right the suggestions are: every algorithm over data sets whose true links are known.

`python -m benchmarks.quality DATASETS`; the figures are those of the scores that the scoring command writes.
"""
