"""What the paper says in passing: costs, other maintenance, other problems, linear machines."""
