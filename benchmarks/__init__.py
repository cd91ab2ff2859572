"""Benchmarks of budgetsvm: ``python -m benchmarks``, or ``make bench``.

A benchmark is a module in `suite` with a function ``run(record, problems, options)`` that adds tables to the record, and
a function ``takes(spec, options)`` that says which data sets it measures if the user names none.
`__main__` lists them. What should not interfere, or whose memory counts, runs in a process of its own, by `fresh`.
The results are saved as results.json, results.md and results.png. Not part of what is installed.
"""
