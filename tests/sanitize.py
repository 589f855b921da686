"""The kernels under sanitizers, for `make sanitize`.

Builds the compiled modules below `build/sanitize`, first with those that find accesses out of bounds and undefined
operations, then with the one that finds races between threads, and runs tests on them: those that compare kernels
with their plain twins, and those of many threads. Memory that Python itself never frees is not looked at, nor are
races inside torch, which is not built so. Tests that start processes are left out: these would load the kernels
that are installed.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent


class Build(NamedTuple):
    """The run-time library of a sanitizer, its settings, and the tests that run on it."""

    library: str
    settings: dict[str, str]
    tests: tuple[str, ...]
    left_out: str


BUILDS = {
    "address,undefined": Build(
        "libasan.so",
        {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1"},
        (
            "tests/calculus/solve/test_closure.py",
            "tests/calculus/solve/test_incremental.py",
            "tests/calculus/solve/test_many.py",
            "tests/calculus/solve/test_paths.py",
            "tests/calculus/solve/test_search.py",
            "tests/calculus/solve/test_sparse.py",
            "tests/data/test_prove.py",
            "tests/formats/test_raw.py",
            "tests/models/test_compiled.py",
            "tests/models/test_joining.py",
            "tests/models/test_links.py",
            "tests/models/test_nbfnet.py",
            "tests/models/test_rule_scorer.py",
            "tests/learn/test_fused.py",
        ),
        "memory or interrupt or bounded",
    ),
    "thread": Build(
        "libtsan.so",
        {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1 exitcode=66 halt_on_error=1"},
        (
            "tests/test_threads.py",
            "tests/models/test_compiled.py",
            "tests/models/test_joining.py",
            "tests/models/test_links.py",
            "tests/learn/test_fused.py",
        ),
        "memory or processes",
    ),
}
"""What is looked for, and where."""
START = (
    "import sys; sys.path[:0] = sys.argv.pop(1).split(':'); import pytest; "
    "import epignn.kernels as k; assert k.native().__file__.startswith(sys.path[0]), k.native().__file__; "
    "sys.exit(pytest.main(sys.argv[1:]))"
)
"""-S and an explicit path: the editable install would come first and bring modules without sanitizers."""


def library(name: str) -> str:
    """Where the compiler keeps a run-time library."""
    found = subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def built(sanitizers: str) -> Path:
    """A folder with the package, whose kernels have these sanitizers."""
    folder = ROOT / "build" / "sanitize" / sanitizers.partition(",")[0]
    kernels, package = folder / "kernels", folder / "package" / "epignn"
    cmake = [sys.executable, "-m", "cmake"]
    for command in (
        [
            *cmake,
            "-S",
            ROOT,
            "-B",
            kernels,
            f"-DEPIGNN_SANITIZE={sanitizers}",
            f"-DPython_EXECUTABLE={sys.executable}",
        ],
        [*cmake, "--build", kernels, "--parallel", "2"],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "epignn", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for module in kernels.glob("*.so"):
        shutil.copy(module, package)
    return package.parent


def fixed_places() -> list[str]:
    """What starts a program whose parts lie where they always lie: the sanitizers of some systems need that."""
    command = ["setarch", "-R"]
    able = shutil.which(command[0]) and subprocess.run([*command, "true"], capture_output=True, check=False)
    return command if able and able.returncode == 0 else []


def tested(sanitizers: str, folder: Path) -> tuple[int, str]:
    """Run the tests on a folder that was built with sanitizers; gives the exit code, and what was said."""
    build = BUILDS[sanitizers]
    environment = {
        **os.environ,
        **build.settings,
        "PYTHONPATH": str(folder),
        "EPIGNN_SIMD": "baseline",
        "OMP_NUM_THREADS": "1",
        "LD_PRELOAD": f"{library(build.library)} {library('libstdc++.so.6')}",
    }
    environment.pop("EPIGNN_DATA", None)  # the samples that are made here are smaller, and of the same kinds
    places = ":".join([str(folder), str(ROOT), *(place for place in sys.path if place.endswith("site-packages"))])
    options = ["-q", "-p", "no:cacheprovider", "--timeout=0", "-k", f"not ({build.left_out})"]
    command = [*fixed_places(), sys.executable, "-S", "-c", START, places, *options, *build.tests]
    ran = subprocess.run(
        command, env=environment, cwd=ROOT, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    lines = ran.stdout.strip().splitlines()
    said = "\n".join(lines if ran.returncode else lines[-1:])
    return ran.returncode, f"{sanitizers}: {said}"


def main() -> int:
    """All builds, or those that are named; zero if nothing is found."""
    names = sys.argv[1:] or list(BUILDS)
    folders = [built(name) for name in names]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = []
        for code, said in pool.map(tested, names, folders):
            print(said, flush=True)
            codes.append(code)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
