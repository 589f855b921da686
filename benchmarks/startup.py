"""How much processor time a symbolic command takes to start and answer."""

import sys
import tempfile
from pathlib import Path

from record import options, processor_seconds, save

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
            seconds = processor_seconds(call, 3 if chosen.quick else 15)
            name = " ".join(words[:2])
            print(f"  epignn {name:<15} {seconds:.3f} s")
            figures[name] = {"seconds": seconds}
    save("startup", figures, chosen)


if __name__ == "__main__":
    main()
