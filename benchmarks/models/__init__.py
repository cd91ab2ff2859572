"""What is compared: our models, exact ones, and their rivals."""
