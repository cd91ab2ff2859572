"""``budgetsvm cv --grid``: a search over C, gamma and, if asked, the budget."""
