"""What a report is made of, how it looks, and how it is written."""
