"""Messages between a process and its workers: plain values, arrays and classes of ours, as JSON and raw bytes.

Nothing is unpickled. A class or a function goes by its name, and at both ends only such are taken as are defined in
epignn, or in the package of the job; a value of any other kind is refused where it is sent.
"""

import dataclasses
import importlib
import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, EnumType
from functools import partial
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from epignn.errors import EpignnError

LENGTH = struct.Struct("<Q")
OURS = "epignn"
PLAIN = (bool, int, float, str, type(None))
BUILT: Mapping[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "mappingproxy": lambda rows: MappingProxyType(dict(rows)),
}
"""Kinds that are built from the list of what is in them."""


def package_of(what: Any) -> str:
    """The package that a class or a function is defined in."""
    return str(what.__module__).partition(".")[0]


def send(target: IO[bytes], message: object, package: str = OURS) -> None:
    """Write a message: its length and text, then every array of it.

    Raises:
        TypeError: a part of it cannot be sent; nothing was written.
    """
    writer = _Writer({OURS, package})
    text = json.dumps(writer.told(message)).encode("ascii")
    target.write(LENGTH.pack(len(text)) + text)
    for array in writer.arrays:
        target.write(array.tobytes())
    target.flush()


def receive(source: IO[bytes], package: str = OURS) -> Any:
    """Read a message.

    Raises:
        EOFError: the other end is gone.
        TypeError: it names something that is defined elsewhere.
    """
    (length,) = LENGTH.unpack(_exactly(source, LENGTH.size))
    return _Reader(source, {OURS, package}).value(json.loads(_exactly(source, length)))


def _exactly(source: IO[bytes], count: int) -> bytearray:
    data = bytearray(count)
    if source.readinto(data) < count:  # type: ignore[attr-defined]
        raise EOFError
    return data


class _Writer:
    """A message as JSON has it: what JSON lacks is an object that names its kind, and arrays are put aside."""

    def __init__(self, packages: set[str]) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._packages = packages
        self._before: dict[int, tuple[int, Any]] = {}  # keeps what it numbers, so that no other has the same id

    def told(self, value: Any) -> Any:
        """A value as it is sent."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is list:
            return self._all(value)
        if kind.__name__ in BUILT:
            content = value.items() if isinstance(value, Mapping) else value  # keys may be of any kind
            return {kind.__name__: self._all(content)}
        if isinstance(value, Path):
            return {"path": str(value)}
        if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject and not value.dtype.names:
            self.arrays.append(np.asarray(value))
            return {"array": [value.dtype.str, value.shape, isinstance(value, np.generic)]}
        if isinstance(value, FunctionType):
            return {"function": self._name(value)}
        if kind is partial:
            return {"partial": self._all([value.func, value.args, value.keywords])}
        return self._ours(value)

    def _ours(self, value: Any) -> Any:
        kind = type(value)
        if id(value) in self._before:
            return {"before": self._before[id(value)][0]}
        if isinstance(value, Enum):
            return {"enum": [self._name(kind), value.name]}
        if isinstance(value, EpignnError):  # of a package that is not told of, its nearest kind that is
            known = next(one for one in kind.__mro__ if package_of(one) in self._packages)
            return {"error": [self._name(known), str(value), self.told(vars(value))]}
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return {"named": [self._name(kind), self._all(value)]}
        if not dataclasses.is_dataclass(kind):
            raise TypeError(f"a job takes and gives plain values, not a {kind.__module__}.{kind.__qualname__}.")
        fields = [field.name for field in dataclasses.fields(kind) if field.init]
        told = {"class": [self._name(kind), {name: self.told(getattr(value, name)) for name in fields}]}
        self._before[id(value)] = len(self._before), value
        return told

    def _all(self, values: Iterable[Any]) -> list[Any]:
        return [self.told(one) for one in values]

    def _name(self, what: Any) -> str:
        name = f"{what.__module__}:{what.__qualname__}"
        if _find(name, self._packages) is not what:
            raise TypeError(f"{name} is not what its name says.")
        return name


def _find(name: str, packages: set[str]) -> Any:
    """The class or function of a name."""
    module, _, path = name.partition(":")
    if module == "__main__":
        raise TypeError(f"{path} is defined in the script that runs, which workers cannot import: use a module.")
    if module.partition(".")[0] not in packages:
        raise TypeError(f"{name} is defined in none of {', '.join(sorted(packages))}.")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if getattr(found, "__module__", None) != module or getattr(found, "__qualname__", None) != path:
        raise TypeError(f"{name} is not defined there.")  # but imported, or made by a function
    return found


class _Reader:
    """The values of a message, and the arrays that come after its text, in the order in which they are told."""

    def __init__(self, source: IO[bytes], packages: set[str]) -> None:
        self._source, self._packages = source, packages
        self._before: list[Any] = []

    def value(self, told: Any) -> Any:
        """What was sent."""
        if isinstance(told, dict) and (kind := next(iter(told), "")) in BUILT:
            return BUILT[kind](self.value(told[kind]))
        match told:
            case list():
                return [self.value(one) for one in told]
            case {"path": name}:
                return Path(name)
            case {"array": [dtype, shape, scalar]}:
                return self._array(np.dtype(dtype), shape)[() if scalar else ...]
            case {"function": name}:
                return self._find(name, FunctionType)
            case {"partial": content}:
                function, given, keywords = self.value(content)
                return partial(function, *given, **keywords)
            case {"before": number}:
                return self._before[number]
            case {"enum": [name, member]}:
                return self._find(name, EnumType)[member]
            case {"error": [name, text, attributes]}:
                return self._error(self._find(name, type), text, self.value(attributes))
            case {"named": [name, values]}:
                return self._find(name, type)(*self.value(values))
            case {"class": [name, fields]}:
                given = {field: self.value(content) for field, content in fields.items()}
                self._before.append(self._find(name, type)(**given))
                return self._before[-1]
            case dict():
                raise TypeError(f"there are no values of the kind {next(iter(told), '')!r}.")
        return told

    def _array(self, dtype: "np.dtype[Any]", shape: Sequence[int]) -> NDArray[Any]:
        count = math.prod(shape)
        return np.frombuffer(_exactly(self._source, dtype.itemsize * count), dtype, count).reshape(shape)

    @staticmethod
    def _error(kind: type[EpignnError], text: str, attributes: Mapping[str, Any]) -> EpignnError:
        error = kind.__new__(kind, text)  # not made anew: some put places before their text
        vars(error).update(attributes)
        return error

    def _find(self, name: str, kind: type) -> Any:
        found = _find(name, self._packages)
        if not isinstance(found, kind):
            raise TypeError(f"{name} is no {kind.__name__}.")
        return found
