"""These are programs, and pytest need not look into them for tests or examples."""

collect_ignore_glob = ["*.py"]
