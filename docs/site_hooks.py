"""What the site has besides the pages of docs/: the README as its start, every command, and pictures of results."""

import re
from pathlib import Path
from typing import Any

import click
import griffe
import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
FILES = "CITATION.cff", "SECURITY.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and the pictures that pages show."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    for name, content in {"index.md": readme, "commands.md": commands(), "python.md": reference()}.items():
        files.append(File.generated(config, name, content=content))
    shown = {
        picture
        for page in (ROOT / "docs").glob("*.md")
        for picture in re.findall(r"\]\(\.\./(results/[^)]+)\)", page.read_text(encoding="utf-8"))
    }
    for picture in sorted(shown):
        files.append(File.generated(config, picture, abs_src_path=str(ROOT / picture)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Pictures of results stand beside the pages here."""
    return markdown.replace("](../results/", "](results/")


class Fences(griffe.Extension):  # type: ignore[misc]
    """Examples of docstrings are code, whatever signs they have."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Fence the examples of one docstring."""
        if obj.docstring is not None:
            examples = re.compile(r"^( *)(>>> .*?)(?=\n\s*\n|\Z)", flags=re.M | re.S)
            obj.docstring.value = examples.sub(r"\1```pycon\n\1\2\n\1```", obj.docstring.value)


def commands() -> str:
    """Every command with its arguments and options."""
    from epignn.cli.app import app

    group = typer.main.get_command(app())
    parts = ["# Commands\n\nEach command tells the same with `--help`.\n"]
    for name, command in _leaves(group, "epignn"):
        parts.append(
            f"## {name.removeprefix('epignn ')}\n\n```\n{_usage(name, command)}\n```\n\n{command.help or ''}\n"
        )
        rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            parts.append("| | what it says |\n| --- | --- |\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _leaves(command: click.Command, name: str) -> list[tuple[str, click.Command]]:
    below = getattr(command, "commands", None)
    if below is None:
        return [(name, command)]
    return [leaf for word, one in below.items() for leaf in _leaves(one, f"{name} {word}")]


def _usage(name: str, command: click.Command) -> str:
    words = [
        parameter.human_readable_name for parameter in command.params if parameter.param_type_name == "argument"
    ]
    return " ".join([name, "[OPTIONS]", *words])


def _row(parameter: Any) -> str:
    names = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
    names = names if parameter.param_type_name == "option" else f"`{parameter.human_readable_name}`"
    told = " ".join((getattr(parameter, "help", "") or "").split()).replace("|", "\\|").replace("<", "&lt;")
    default = parameter.default
    known = default not in (None, False, (), "") and not callable(default) and parameter.param_type_name == "option"
    return f"| {names} | {told}{f' Default: `{default}`.' if known else ''} |"


def reference() -> str:
    """The public names of the package, by what they are for."""
    parts = {
        "Facts and calculi": ["Calculus", "Network", "Fact", "Result", "load", "read_networks", "write_network"],
        "Exact reasoning": [
            "close",
            "directional",
            "partial",
            "dpc",
            "dpc_plus",
            "solve",
            "entails",
            "minimal_labels",
            "Answer",
            "Entailment",
        ],
        "Facts that come and go": ["Incremental"],
        "Reasoners": ["Exact", "Learnt", "Neural", "Reasoner", "Statements"],
        "Links": ["Links"],
        "Other worlds": ["from_geometries", "from_intervals", "from_networkx", "read_rdf"],
        "Data": [
            "Dataset",
            "Score",
            "score",
            "to_columns",
            "from_columns",
            "pyg_loader",
            "pyg_batch",
            "to_pyg",
            "from_pyg",
        ],
        "Errors": ["EpignnError", "BadArgument", "BadCalculus", "BadFile", "UnknownName"],
    }
    import epignn

    told = {"CALCULI", "__version__", *(name for names in parts.values() for name in names)}
    if missing := set(epignn.__all__) - told:
        raise PluginError(f"docs/site_hooks.py does not tell of {', '.join(sorted(missing))}.")
    text = "# Python\n\nWhat `import epignn` offers.\n"
    for title, names in parts.items():
        text += f"\n## {title}\n"
        for name in names:
            found = getattr(epignn, name)
            text += f"\n::: {found.__module__}.{found.__qualname__}\n    options: {{heading_level: 3}}\n"
    return text
