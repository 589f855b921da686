"""The kernels under the address and undefined-behaviour sanitizers, for `make sanitize`.

Builds the compiled modules into a folder of their own and runs the tests that compare them with their plain twins.
Memory that Python itself never frees is not looked at.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g"
TESTS = ("tests/test_kernels.py", "tests/calculus/solve", "tests/models/test_compiled.py")


def library(name: str) -> str:
    """Where the compiler keeps a run-time library."""
    found = subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def main() -> None:
    """Build, and run the tests on the result."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "build"
        configure = ["cmake", "-S", ROOT, "-B", built, "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS={FLAGS}"]
        subprocess.run([*configure, f"-DPython_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", built, "--parallel", "2"], check=True)
        package = Path(folder) / "epignn"
        shutil.copytree(ROOT / "src" / "epignn", package)
        for module in built.glob("*.so"):
            shutil.copy(module, package)
        environment = {
            **os.environ,
            "PYTHONPATH": folder,
            "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so.6')}",
            "ASAN_OPTIONS": "detect_leaks=0",
        }
        # -S and an explicit path: the editable install would come first and bring modules without sanitizers.
        start = (
            "import sys; sys.path[:0] = sys.argv.pop(1).split(':'); import pytest; "
            "import epignn.kernels as k; assert k.native().__file__.startswith(sys.path[0]), k.native().__file__; "
            "sys.exit(pytest.main(sys.argv[1:]))"
        )
        places = ":".join([folder, str(ROOT), *(place for place in sys.path if place.endswith("site-packages"))])
        command = [sys.executable, "-S", "-c", start, places, "-q", "-p", "no:cacheprovider", "--timeout=0", *TESTS]
        raise SystemExit(subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
