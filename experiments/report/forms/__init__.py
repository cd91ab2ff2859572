"""The forms of a report: one web page, and Markdown."""
