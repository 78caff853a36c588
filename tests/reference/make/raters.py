# SPDX-License-Identifier: Apache-2.0
"""Writes tests/reference/raters.toml: agreement by the package irrCAC 0.4.4, beside the figures its author printed.

pip install irrCAC==0.4.4, then: python tests/reference/make/raters.py > tests/reference/raters.toml
"""

import random

FOUR = [[1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0]]
rng = random.Random(2)
DRAWN = [[x if rng.random() < 0.7 else rng.choice([1, 2, 3, 4]) for _ in range(3)]
         for x in rng.choices([1, 2, 3, 4], weights=[5, 3, 2, 1], k=60)]


def main():
    import pandas as pd
    from irrCAC.raw import CAC

    print("# SPDX-License-Identifier: Apache-2.0")
    print("# Written by tests/reference/make/raters.py; 0 is a label that was not given.")
    print("# four: twelve units, four coders (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability; alpha 0.743);")
    print("#   errors and ends as in the vignette of the R package irrCAC (Gwet), cac.raw4raters.")
    print("# drawn: random labels without gaps, by the Python package irrCAC 0.4.4.")
    print("\n[data]")
    print("four =", [list(row) for row in zip(*FOUR)])
    print("drawn =", DRAWN)
    for name, value, error, low in (("fleiss", 0.76117, 0.15302, 0.424), ("gwet", 0.77544, 0.14295, 0.461), ("krippendorff", 0.74342, 0.14557, 0.419)):
        print(f'\n[[cases]]\ndata = "four"\ncoefficient = "{name}"\nweights = "identity"\nvalue = {value}\nerror = {error}\nlow = {low}\nhigh = 1.0\ndigits = 5e-6\nends = 5e-4')
    for kind in ("identity", "linear", "quadratic"):
        table = CAC(pd.DataFrame(DRAWN), weights=kind, digits=10)
        for name, run in (("fleiss", table.fleiss), ("gwet", table.gwet), ("krippendorff", table.krippendorff)):
            est = run()["est"]
            low, high = map(float, est["confidence_interval"])
            print(f'\n[[cases]]\ndata = "drawn"\ncoefficient = "{name}"\nweights = "{kind}"\nvalue = {float(est["coefficient_value"])}\nerror = {float(est["se"])}\nlow = {low}\nhigh = {high}\ndigits = 1e-9\nends = 1e-9')


if __name__ == "__main__":
    main()
