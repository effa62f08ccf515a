"""The tables of three pages in docs/, measured again: layers.md, architectures.md and agreement.md."""

import agreement
import architecture_table
import layer_table
import pytest


def one_of(names, small):
    """All of the networks, but with --torture alone those that are not small."""
    return [pytest.param(name, marks=() if name == small else pytest.mark.torture) for name in names]


@pytest.mark.parametrize("network", one_of(layer_table.BLOCKS, "salgen's vit-b-16"))
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


ANY_NETWORK = ("gradient", "integrated-gradients", "occlusion", "rise", "grad-cam", "lrp-z", "lrp-alpha-beta")


@pytest.mark.parametrize("network", one_of(architecture_table.NETWORKS, "squeezenet1_1"))
def test_the_page_states_what_runs(network):
    found = architecture_table.outcomes(network)
    first = {name: architecture_table.first_clause(said) for name, said in found.items()}
    assert first == architecture_table.stated()[network]
    assert {found[name] for name in ANY_NETWORK} == {architecture_table.RUNS}


def test_the_page_has_every_network_and_method():
    stated = architecture_table.stated()
    assert set(stated) == set(architecture_table.NETWORKS)
    for cells in stated.values():
        assert list(cells) == architecture_table.METHOD_NAMES
        assert not any(said.isdigit() for said in cells.values())


AGREEMENT = agreement.stated()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("network", agreement.NETWORKS)
@pytest.mark.parametrize("row", agreement.ROWS, ids=lambda row: row.name)
def test_a_method_agrees_with_a_library_as_well_as_the_page_says(row, network):
    found = agreement.difference(row, network)
    assert (found is None) == ((row.call, row.library, network) not in AGREEMENT)
    if found is not None:
        assert found <= AGREEMENT[row.call, row.library, network]


def test_the_page_states_agreement():
    """Every row of the table is on the page, and no difference there is one that matters."""
    assert {(row.call, row.library) for row in agreement.ROWS} == {key[:2] for key in AGREEMENT}
    assert max(AGREEMENT.values()) <= 1e-3
