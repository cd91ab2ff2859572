"""What was found: tables in files, and a picture."""
