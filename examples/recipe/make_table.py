"""Write customers.csv, a made-up table as they come: numbers on all scales, words, gaps."""

import numpy as np
import pandas as pd

ROWS = 12_000  # quick: 1_500
rng = np.random.default_rng(0)
table = pd.DataFrame(
    {
        "age": rng.normal(45, 15, ROWS).clip(18, 95).round(),
        "income": rng.lognormal(10.3, 0.6, ROWS).round(2),
        "visits": rng.poisson(6, ROWS).astype(float),
        "city": rng.choice(["Bochum", "Dortmund", "Essen", "Herne"], ROWS, p=[0.4, 0.3, 0.2, 0.1]),
        "plan": rng.choice(["basic", "plus", "family"], ROWS),
    }
)
happy = np.sin(table["age"] / 8) + 0.25 * (table["visits"] - 6) + (table["plan"] == "plus")
happy -= 0.8 * (np.log(table["income"]) - 10.3) * (table["city"] == "Essen")
table["stays"] = np.where(happy + rng.normal(0, 0.7, ROWS) > 0, "yes", "no")
for column in ("age", "income", "city", "plan"):  # nobody knows everything
    table.loc[rng.random(ROWS) < 0.08, column] = None
table.to_csv("customers.csv", index=False)
print(table.head(5).to_string())
