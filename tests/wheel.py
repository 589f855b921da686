"""A wheel, in an empty environment without a compiler: `make wheel` builds it into dist/ and tries it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUESTION = ("close", "ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)", "--query", "a", "c")


def tried(epignn: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command, where no other program is found, in a folder that holds nothing."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {"PATH": str(epignn.parent), "HOME": empty}
        command = [str(epignn), *words]
        return subprocess.run(command, env=environment, cwd=empty, capture_output=True, text=True, check=False)


def main() -> None:
    dist = ROOT / "dist"
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", dist, ROOT], check=True)
    wheel = max(dist.glob("epignn-*.whl"), key=lambda path: path.stat().st_mtime)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        bin = Path(folder) / ("Scripts" if os.name == "nt" else "bin")
        subprocess.run([bin / "python", "-m", "pip", "install", "--quiet", wheel], check=True)
        info, answer, model = (
            tried(bin / "epignn", *words) for words in (("info",), QUESTION, ("ask", "ec(a, b)", "a", "b"))
        )
    assert "kernels      compiled" in info.stdout, info.stdout + info.stderr
    assert answer.stdout.endswith("PO(a, c)\n"), answer.stdout + answer.stderr
    assert (model.returncode, "epignn[learn]" in model.stderr) == (2, True), model.stderr
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes; it answers in an empty environment")
    print("3 passed, 0 failed")


if __name__ == "__main__":
    main()
