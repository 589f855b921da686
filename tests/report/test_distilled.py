"""Tables of distillation: what is shown of records, good ones and bad ones."""

from epignn.report.distilled import calculus_table, recovery_table, rules_table


def run(equal, seconds=4.0, accuracy=1.0):
    found = {"cells": 64, "equal": equal, "excluding": 64 - equal}
    cells = [{"k": k, "n": n, "accuracy": a} for k, n, a in ((9, 160, 1.0), (15, 40, accuracy), (100, 8, 1.0))]
    return {
        "experiment": {"name": "rcc8"},
        "recovery": found,
        "recovery_by_weights": {**found, "equal": 47},
        "seconds": seconds,
        "cells": cells,
        "published": [{"n": 6400, "accuracy": 1.0}],
    }


def test_every_seed_counts():
    columns, (row,) = calculus_table([run(64, 4.0), run(64, 6.0)])
    assert row == ["rcc8", "2", "64 of 64", "47 of 64", "5", "1.000 of 12,800", "1.000 of 400", "1.000 of 16"]
    assert len(columns) == len(row)
    _, (row,) = calculus_table([run(64), run(60, accuracy=0.5)])
    assert (row[2], row[6]) == ("64, 60 of 64", "0.500 of 400")


def test_settings_of_recovery():
    def record(calculus, graphs, noise, equal, excluding):
        return {
            "calculus": calculus,
            "graphs": graphs,
            "noise": noise,
            "recovery": {"cells": 64, "equal": equal, "excluding": excluding},
        }

    _, rows = recovery_table(
        [
            record("rcc8", 216, 0.0, 58, 2),
            record("rcc8", 216, 0.0, 60, 0),
            record("rcc8", 57600, 0.05, 64, 0),
            record("rcc5", 36000, 0.0, 25, 0),
        ]
    )
    assert [row[0] for row in rows] == ["rcc5", "rcc8", "rcc8"]
    assert rows[1][1:] == ["57,600", "5%", "64 of 64 (1 seed)", "none"]
    assert rows[2][1:] == ["216", "none", "58, 60 of 64 (2 seeds)", "2, 0"]


def test_rules_by_hops():
    def record(source, unambiguous, among):
        files = [
            {
                "file": f"1.{hops}_test.csv.gz",
                "unambiguous": unambiguous,
                "ambiguous": 2 * (hops == 5),
                "among": among,
            }
            for hops in (3, 4, 5)
        ]
        return {"experiment": {"data": {"source": source}}, "rules": 600, "shown": 117, "files": files}

    columns, rows = rules_table(
        [record("clutrr-089907f8", 1.0, 2), record("clutrr-db9b8f04", 0.9, 1), record("clutrr-db9b8f04", 1.0, 1)]
    )
    assert columns[-2:] == ["4 hops", "5 hops"]
    assert rows == [
        ["2 to 4 hops", "2", "600, 117 shown", "0.950", "", "0.950 (+2, 1)"],
        ["2 to 3 hops", "1", "600, 117 shown", "1.000", "1.000", "1.000 (+2)"],
    ]
