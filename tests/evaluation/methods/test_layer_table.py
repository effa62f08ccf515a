"""Every block of six architectures: the right map, or a refusal that names a layer that works."""

import layer_table
import pytest

SMALL = ("salgen's vit-b-16",)  # the others with --torture
NETWORKS = [pytest.param(name, marks=() if name in SMALL else pytest.mark.torture) for name in layer_table.BLOCKS]


@pytest.mark.parametrize("network", NETWORKS)
def test_every_block_is_right_or_refused(network):
    rows = layer_table.rows(network)
    assert layer_table.lines(network) == [line for line in layer_table.stated() if line.startswith(f"| {network} |")]
    right = {row.block for row in rows if row.difference is not None}
    assert max(row.difference for row in rows if row.block in right) <= layer_table.ROUNDING
    assert sum(row.peak > 0 for row in rows if row.block in right) > len(right) / 2  # rectified maps may be empty
    model, images = layer_table.build(network)
    for named in {row.instead for row in rows if row.block not in right}:
        found = layer_table.found_maps(model, images, [named])[named]
        expected = layer_table.library_map(model, images, named, layer_table.BLOCKS[network][named])
        assert (found - expected).abs().max() <= layer_table.ROUNDING * max(1e-12, expected.abs().max())


def test_the_page_has_no_other_rows():
    networks = {line.split(" | ")[0].removeprefix("| ") for line in layer_table.stated()}
    assert networks == set(layer_table.BLOCKS)
