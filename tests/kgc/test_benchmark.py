"""The benchmark of link prediction runs."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "kgc.py"


def test_a_quick_run_shows_time_memory_and_chunk_and_records_nothing(tmp_path):
    environment = {**os.environ, "EPIGNN_BENCH_OUT": str(tmp_path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(SCRIPT), "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    (line,) = [line for line in run.stdout.splitlines() if "in chunks of" in line]
    assert line.split()[:6] == ["2,000", "facts,", "16", "heads,", "dim", "16"]
    for figure in ("train seconds", "score seconds", "train peak mb", "score peak mb"):
        assert f"2,000 facts, 16 heads, dim 16 {figure}" in run.stdout
    assert not list(tmp_path.iterdir())
