"""Run the numeric tests on every instruction set that this machine has: `make test-portable`.

EPIGNN_SIMD chooses the instructions of the compiled kernels, ATEN_CPU_CAPABILITY those of torch; each of their
values serves in one run. What the processor lacks is told and left out: torch would crash.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

CHOICES = (("baseline", "default"), ("v3", "avx2"), ("v4", "avx512"))


def numeric(chosen: dict[str, str]) -> tuple[int, str]:
    """Exit code of the numeric tests under some variables, and what is to be told of them."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "numeric", "-p", "no:cacheprovider", "tests"],
        env={**os.environ, **chosen, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    name = " ".join(f"{variable}={value}" for variable, value in chosen.items())
    lines = ran.stdout.strip().splitlines()
    return ran.returncode, "\n".join([*(lines[:-1] if ran.returncode else []), f"{name}: {lines[-1]}"])


def main() -> int:
    """Zero if all runs pass."""
    for variable in ("EPIGNN_SIMD", "ATEN_CPU_CAPABILITY"):
        os.environ.pop(variable, None)
    import torch

    from epignn.kernels import instruction_sets

    widest = torch.backends.cpu.get_cpu_capability().lower()
    of_torch = [torchs for _, torchs in CHOICES]
    of_torch = of_torch[: of_torch.index(widest) + 1] if widest in of_torch else of_torch[:1]
    runs = []
    for ours, torchs in CHOICES:
        here = {"EPIGNN_SIMD": (ours, instruction_sets()), "ATEN_CPU_CAPABILITY": (torchs, of_torch)}
        for variable, (value, there) in here.items():
            if value not in there:
                print(f"{variable}={value}: left out, since this machine lacks it")
        runs.append({variable: value for variable, (value, there) in here.items() if value in there})
    runs = [chosen for chosen in runs if chosen]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = []
        for code, told in pool.map(numeric, runs):
            print(told, flush=True)
            codes.append(code)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
