"""What runs on workers."""
