"""What takes long to derive, kept in the user's cache under the digest of its inputs."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.files import atomic_path, cache_folder
from salgen.parameters import canonical_json

Arrays = Mapping[str, NDArray[Any]]


def cached(
    kind: str, depends_on: Any, names: tuple[str, ...], derive: Callable[[], Mapping[str, NDArray[Any]]]
) -> Arrays:
    """Arrays by `names`, from the cache if it holds them undamaged, else from `derive`, and then kept.

    `kind`, such as ``"brains"``, begins the file's name. `depends_on`, JSON values, determines the arrays.
    """
    path = cache_path(kind, depends_on)
    with cache_errors(kind):
        arrays = _read(path, names)
    if arrays is None:
        arrays = derive()
        with cache_errors(kind), atomic_path(path) as temporary, open(temporary, "wb") as handle:
            np.savez(handle, **arrays)  # type: ignore[arg-type]
    return arrays


def cached_json(kind: str, depends_on: Any, derive: Callable[[], Any]) -> Any:
    """As :func:`cached`, a JSON value."""
    kept = cached(kind, depends_on, ("json",), lambda: {"json": np.frombuffer(json.dumps(derive()).encode(), np.uint8)})
    return json.loads(kept["json"].tobytes())


def cache_path(kind: str, depends_on: Any) -> Path:
    """The cache file of such arrays."""
    with cache_errors(kind):
        return cache_folder() / f"{kind}-{hashlib.sha256(canonical_json(depends_on).encode()).hexdigest()[:32]}.npz"


@contextmanager
def cache_errors(kind: str) -> Iterator[None]:
    """Turn an OSError into a SalgenError that names the cache."""
    try:
        yield
    except OSError as error:
        raise SalgenError(f"cannot keep {kind} in the cache ({error}): set SALGEN_CACHE to another folder") from None


def _read(path: Path, names: tuple[str, ...]) -> Arrays | None:
    """The arrays of a file, or None if it is missing or damaged."""
    try:
        with open(path, "rb") as handle, np.load(handle, allow_pickle=False) as stored:
            return {name: stored[name] for name in names}
    except FileNotFoundError:
        return None
    except Exception:  # a damaged archive fails in any way; its arrays can be derived again
        path.unlink(missing_ok=True)
        return None
