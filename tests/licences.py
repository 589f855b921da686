"""The licence of every package that is installed, for `make audit`."""

from importlib.metadata import distributions


def licence(about: object) -> str:
    """What a package says of its licence: the short expression, the classifier, or the first words of the text."""
    told = about["License-Expression"] or about["License"] or ""  # type: ignore[index]
    classes = [line for line in about.get_all("Classifier") or () if line.startswith("License ::")]  # type: ignore[attr-defined]
    return told.split("\n")[0][:60] or " ".join(line.rpartition(" :: ")[2] for line in classes) or "not told"


def main() -> None:
    """Print a line a package."""
    for name, told in sorted({one.metadata["Name"]: licence(one.metadata) for one in distributions()}.items()):
        print(f"{name:32} {told}")


if __name__ == "__main__":
    main()
