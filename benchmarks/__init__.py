"""Benchmarks of budgetsvm: ``python -m benchmarks``, or ``make bench``.

A benchmark is a module with a function ``run(record, problems, options)`` that adds tables to the record.
`__main__` lists them. Not part of what is installed.
"""
