"""Lists of models, tasks and objectives, each by name: the package's own, those of other packages, and files.

A name is one of three things:

    epignn                  an entry of the package's own list
    mine                    an entry point that an installed package registers (groups `epignn.models`, …)
    path/to/file.py:Class   a class in a file of the user's own

A file is executed only if the caller names it in `code`: what a run folder or an experiment file says is data, and
never makes code run by itself.
"""

import importlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from epignn.errors import BadArgument, lookup, unknown

Code = frozenset[Path]
"""Files that the user has named, and whose classes may therefore be loaded."""


def allowed(paths: Iterable[Path | str]) -> Code:
    """The files that may be executed, as the user named them."""
    return frozenset(Path(path).resolve() for path in paths)


@cache
def entry_points(**chosen: str) -> tuple[Any, ...]:
    """What installed packages register; looked up once, when it is first asked for, since that takes a while."""
    from importlib.metadata import entry_points

    return tuple(entry_points(**chosen))


@dataclass(frozen=True)
class Entries:
    """A list of named classes.

    Attributes:
        what: what an entry is called in messages, such as `model`.
        group: the entry points of other packages that belong to the list.
        own: the package's entries: `module:Class` by name; a module is loaded when its entry is asked for.
    """

    what: str
    group: str
    own: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def names(self) -> tuple[str, ...]:
        """All entries that have a name: the package's own first."""
        others = {point.name for point in entry_points(group=self.group)} - set(self.own)
        return (*self.own, *sorted(others))

    def get(self, name: str, code: Code = frozenset()) -> Any:
        """The class of an entry.

        Raises:
            UnknownName: there is no entry of this name.
            BadArgument: it is a class in a file that was not named, or a file that has no such class.
        """
        if is_file(name):
            return _from_file(self.what, name, code)
        if name in self.own:
            module, _, attribute = self.own[name].partition(":")
            return getattr(importlib.import_module(module), attribute)
        for point in entry_points(group=self.group, name=name):
            return point.load()
        raise unknown(self.what, name, [*self.names(), f"path/to/file.py:Class for a {self.what} of your own"])


def is_file(name: str) -> bool:
    """Whether a name is that of a class in a file.

    >>> is_file("examples/mine.py:Mine"), is_file("wn18rr:v1")
    (True, False)
    """
    return name.rpartition(":")[0].endswith(".py")


def _from_file(what: str, name: str, code: Code) -> Any:
    """A class of a file that the user has named; elsewhere or moved, a file of the same name serves."""
    file, _, attribute = name.rpartition(":")
    path = Path(file).resolve()
    if path not in code:
        same = [other for other in sorted(code) if other.name == path.name]
        if not same:
            raise BadArgument(
                f"the {what} is the class {attribute} of {file}, a file outside epignn. Name the file to have its "
                f"code run: --code {file}, or code=[{file!r}] from Python."
            )
        path = same[0]
    module = _module(path)
    own = (value for value in vars(module).values() if isinstance(value, type))
    classes = {value.__name__: value for value in own if value.__module__ == module.__name__}
    return lookup(f"class in {path.name}", attribute, classes)


@cache
def _module(path: Path) -> Any:
    """A Python file as a module, executed once."""
    if not path.is_file():
        raise BadArgument(f"{path} is not a file.")
    from importlib.util import module_from_spec, spec_from_file_location

    name = f"epignn_code_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise BadArgument(f"{path} cannot be loaded: {type(error).__name__}: {error}.") from error
    return module
