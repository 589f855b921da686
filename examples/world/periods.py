"""Write periods.csv: the periods of the geological time scale, which the package pyrolite carries.

python examples/world/periods.py
"""

from importlib.metadata import files

import pandas

[chart] = [file for file in files("pyrolite") or () if file.name == "geotimescale_202412.csv"]
table = pandas.read_csv(str(chart.locate()))
finer = table[["Superepoch", "Epoch", "Age"]].notna().any(axis=1)
periods = table[table["Period"].notna() & ~finer]
periods[["Period", "Start", "End"]].to_csv("periods.csv", index=False)
print(f"periods.csv: {len(periods)} periods")
