"""A method's scores on the frozen checkpoints as one JSON file, which others can add to the results and check."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from salgen.errors import SalgenError, reason
from salgen.evaluation.attribution.method_selection import check_methods_given, select_methods
from salgen.evaluation.bench.bench_spec import BenchSpec
from salgen.evaluation.bench.published import SAMPLE, direction
from salgen.evaluation.results.run import Run
from salgen.files import write_text
from salgen.types import SaliencyMap

if TYPE_CHECKING:
    import pandas as pd

CLAIM, CLAIMS = "claim.json", "claims"
MAPS = "map"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a method is said to reach.

    Attributes
    ----------
    version, sha256
        Of the benchmark, and the digest of its definition.
    method, given
        Its call, as the tables name it, and as `salgen bench rank` was given it.
    source_sha256
        The digest of its source; None for a method of salgen.
    versions
        Of salgen, torch and what else scores depend on.
    by, code
        Who claims it, and where its code is.
    scores
        Entry to columns of equal length: `training_seed`, `sample_id`, `map` (the first 16 digits of the SHA-256 of
        the map's float32 values), and for each metric that methods are ranked by the value, None where it is undefined.
    """

    version: int
    sha256: str
    method: str
    given: str
    source_sha256: str | None
    versions: Mapping[str, str]
    by: str = ""
    code: str = ""
    scores: Mapping[str, Mapping[str, list[Any]]]


def claimed_method(given: str, scale: str) -> tuple[str, str | None]:
    """The call of a method as it was given, and the digest of its source, None for one of salgen.

    Raises
    ------
    SalgenError
        If it is none, a group of methods or a control.
    """
    calls = select_methods(check_methods_given([given]), scale).named
    if len(calls) != 1:
        raise SalgenError(f"{given} is a group of methods: rank one at a time")
    ((call, method),) = calls.items()
    if method.control:
        raise SalgenError(f"{given} is a control, which has no rank: name a method")
    return call, getattr(method, "sha256", None)


def write_claim(path: Path, claim: Claim) -> None:
    """Write a claim as JSON, a line for each column."""
    head = dataclasses.asdict(claim)
    entries = head.pop("scores")
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    tables = []
    for name, columns in entries.items():
        rows = [f"      {json.dumps(key)}: {json.dumps(values)}" for key, values in columns.items()]
        tables.append(f"    {json.dumps(name)}: {{\n" + ",\n".join(rows) + "\n    }")
    lines.append('  "scores": {\n' + ",\n".join(tables) + "\n  }")
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def read_claim(path: Path) -> Claim:
    """The claim of a file.

    Raises
    ------
    SalgenError
        If it is none.
    """
    try:
        claim = Claim(**json.loads(path.read_text(encoding="utf-8")))
        if not all(isinstance(text, str) for text in (claim.sha256, claim.method, claim.given, claim.by, claim.code)):
            raise ValueError("digest, method, given, by and code must be text")
        for name, columns in claim.scores.items():
            if not {*SAMPLE, MAPS} <= columns.keys() or len({len(values) for values in columns.values()}) != 1:
                raise ValueError(f"{name} lacks a column, or its columns have different lengths")
            for column, values in columns.items():
                kind = int if column == SAMPLE[0] else str if column in (SAMPLE[1], MAPS) else (float, int, type(None))
                if not all(isinstance(value, kind) for value in values):
                    raise ValueError(f"{name}: {column} holds something else than a seed, a name, a digest or a number")
    except OSError as error:
        raise SalgenError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise SalgenError(f"{path} is not a claim: {reason(error)}; salgen bench rank writes claims") from None
    return claim


def read_claims(spec: BenchSpec, results: Path) -> dict[str, Claim]:
    """The claims in a folder of results, by their methods.

    Raises
    ------
    SalgenError
        If a file is none, is of another version, or there are two of one method.
    """
    claims: dict[str, Claim] = {}
    for path in sorted((results / CLAIMS).glob("*.json")):
        claim = read_claim(path)
        if {"version": claim.version, "sha256": claim.sha256} != spec.stated:
            raise SalgenError(f"{path} is not of salgen-bench {spec.version}: remove it, or rank its method again")
        if claim.method in claims:
            raise SalgenError(f"{path} is a second claim of {claim.method}: remove one")
        claims[claim.method] = claim
    return claims


def claimed_scores(run: Run, method: str, rows: pd.DataFrame) -> dict[str, list[Any]]:
    """The columns of a claim for one entry.

    Parameters
    ----------
    run
        The run that explained its images, with maps.
    method
        The method's call.
    rows
        Its published scores, by the metrics that methods are ranked by.
    """
    import pandas as pd

    values = rows.pivot_table(index=SAMPLE, columns="metric", values="value", aggfunc="first", dropna=False)
    maps = pd.Series(
        {
            (seed, name): digest
            for seed in {model.seed for model in run.record.models}
            for name, digest in map_digests(run.maps(method, seed=seed)).items()
        }
    )
    table = values.reindex(maps.index.sort_values())
    # The shortest decimal number of each float32: read again, it is the published value, so that equal methods tie.
    stated = {
        str(metric): [None if value != value else float(str(value)) for value in column.to_numpy(np.float32)]
        for metric, column in table.items()
    }
    seeds, names = ([*table.index.get_level_values(level)] for level in (0, 1))
    return {"training_seed": [int(seed) for seed in seeds], "sample_id": names, MAPS: [*maps[table.index]], **stated}


def map_digests(maps: SaliencyMap) -> dict[str, str]:
    """Sample id to the digest of its map."""
    values = [hashlib.sha256(value.tobytes()).hexdigest()[:16] for value in maps.values]
    return dict(zip(maps.ids or (), values, strict=True))


def claim_scores(claim: Claim, entry: str) -> pd.DataFrame:
    """The scores that a claim states for an entry, a row for each metric, with the columns of published scores."""
    import pandas as pd

    columns = {name: values for name, values in claim.scores[entry].items() if name != MAPS}
    rows = pd.DataFrame(columns).melt(SAMPLE, var_name="metric", value_name="value")
    value = rows["value"].astype(np.float32).astype(float)
    return rows.assign(method=claim.method, value=value, better=value * direction(rows["metric"]))
