"""Benchmarks of budgetsvm: ``python -m benchmarks``, or ``make bench``.

A benchmark is a module with a function ``run(record, problems, options)`` that adds tables to the record, and
a function ``takes(spec, options)`` that says which data sets it measures if the user names none.
`__main__` lists them. Not part of what is installed.
"""
