"""Whether a description of a data set that a stranger wrote can be believed before anything is done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from salgen.datasets.format.manifest import Manifest
    from salgen.spec import DatasetSpec

MOST_SHARDS = 1_000_000
MOST_ROWS = 1 << 31


def manifest_fault(manifest: Manifest) -> str | None:
    """What no data set could have, if anything: a value of another kind, or numbers beyond all bounds."""
    return _spec_fault(manifest.spec) or _kind_fault(manifest) or _name_fault(manifest) or _size_fault(manifest)


def _spec_fault(spec: DatasetSpec) -> str | None:
    texts = (spec.generator, spec.generator_version, spec.source, spec.source_digest)
    checks = {
        "names, versions and digests must be text": all(isinstance(text, str) for text in texts),
        "parameters must be a table": isinstance(spec.parameters, dict),
        "bit_depth must be 8 or 16": spec.bit_depth in (8, 16),
    }
    return _first(checks)


def _kind_fault(manifest: Manifest) -> str | None:
    rows = (manifest.samples_per_shard, manifest.rows_per_group)
    flags = (manifest.twins, manifest.exact, manifest.redistributable, manifest.pixels, manifest.recipes_only)
    checks = {
        f"samples_per_shard and rows_per_group must be 1 to {MOST_ROWS}": all(
            _is_whole(n) and 1 <= n <= MOST_ROWS for n in rows
        ),
        "channels must be 1 or 3": manifest.channels in (1, 3),
        "twins, exact, redistributable, pixels and recipes_only must be true or false": all(
            isinstance(flag, bool) for flag in flags
        ),
        "with recipes_only, pixels must be true: they are rendered": manifest.pixels or not manifest.recipes_only,
        "summary, licence and notes must be text": _are_texts((manifest.summary, manifest.licence, manifest.notes)),
        "libraries must be a table of texts": isinstance(manifest.libraries, dict)
        and _are_texts(manifest.libraries.values()),
    }
    return _first(checks)


def _name_fault(manifest: Manifest) -> str | None:
    tasks, regions = manifest.tasks, (*manifest.regions, None)
    checks = {
        "there must be a task, and tasks and classes must be text": bool(tasks)
        and all(classes and _are_texts((task, *classes)) for task, classes in tasks.items()),
        "regions and factors must be text": _are_texts((*manifest.regions, *manifest.factors)),
        "multi_label must be tasks": all(task in tasks for task in manifest.multi_label),
        "each task must have a target that is a region": isinstance(manifest.targets, dict)
        and set(manifest.targets) == set(tasks)
        and all(target in manifest.regions for target in manifest.targets.values()),
        "valid_region must be a region": manifest.valid_region in regions,
    }
    return _first(checks)


def _size_fault(manifest: Manifest) -> str | None:
    shards = sum(-(-count // manifest.samples_per_shard) for count in manifest.spec.splits.values())
    return f"it has {shards} shards, more than {MOST_SHARDS}" if shards > MOST_SHARDS else None


def _first(checks: dict[str, bool]) -> str | None:
    return next((fault for fault, holds in checks.items() if not holds), None)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)
