"""The kernels under sanitizers, for `make sanitize`.

Builds the compiled modules into a folder of their own, first with those that find accesses out of bounds and
undefined operations, then with the one that finds races between threads, and runs tests on them: those that compare
kernels with their plain twins, and those of many threads. Memory that Python itself never frees is not looked at,
nor are races inside torch, which is not built so.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
KERNELS = ("tests/test_kernels.py", "tests/calculus/solve", "tests/models/test_compiled.py", "tests/formats")
THREADED = ("tests/test_threads.py",)
BUILDS = {
    "address,undefined": ("libasan.so", {"ASAN_OPTIONS": "detect_leaks=0"}, KERNELS),
    "thread": ("libtsan.so", {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1 exitcode=66"}, THREADED),
}
"""What is looked for: the library that does it, its settings, and the tests."""
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


def tested(sanitizers: str) -> int:
    """Build with sanitizers and run the tests on the result; gives the exit code."""
    name, options, tests = BUILDS[sanitizers]
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "build"
        configure = ["cmake", "-S", ROOT, "-B", built, f"-DEPIGNN_SANITIZE={sanitizers}"]
        subprocess.run([*configure, f"-DPython_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", built, "--parallel", "2"], check=True)
        package = Path(folder) / "epignn"
        shutil.copytree(ROOT / "src" / "epignn", package, ignore=shutil.ignore_patterns("*.so"))
        for module in built.glob("*.so"):
            shutil.copy(module, package)
        environment = {
            **os.environ,
            **options,
            "PYTHONPATH": folder,
            "EPIGNN_SIMD": "baseline",
            "LD_PRELOAD": f"{library(name)} {library('libstdc++.so.6')}",
        }
        places = ":".join([folder, str(ROOT), *(place for place in sys.path if place.endswith("site-packages"))])
        command = [sys.executable, "-S", "-c", START, places, "-q", "-x", "-p", "no:cacheprovider", "--timeout=0"]
        return subprocess.run([*command, *tests], env=environment, cwd=ROOT, check=False).returncode


def main() -> None:
    """All builds, or those that are named."""
    for sanitizers in sys.argv[1:] or BUILDS:
        if code := tested(sanitizers):
            raise SystemExit(code)


if __name__ == "__main__":
    main()
