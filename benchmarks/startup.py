"""How long a symbolic command takes to start and answer."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record import options, save

COMMANDS = (("info",), ("calculus", "list", "--json"), ("close", "FACTS", "--query", "a", "c"))


def main() -> None:
    chosen = options(__doc__)
    command = Path(sys.executable).with_name("epignn")
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        facts = Path(folder, "facts.txt")
        facts.write_text("ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)", encoding="utf-8")
        for words in COMMANDS:
            call = [str(command), *(str(facts) if word == "FACTS" else word for word in words)]
            seconds = []
            for _ in range(3 if chosen.quick else 7):
                start = time.perf_counter()
                subprocess.run(call, check=True, capture_output=True)
                seconds.append(time.perf_counter() - start)
            name = " ".join(words[:2])
            print(f"  epignn {name:<15} {min(seconds):.3f} s")
            figures[name] = {"seconds": min(seconds)}
    save("startup", figures, chosen)


if __name__ == "__main__":
    main()
