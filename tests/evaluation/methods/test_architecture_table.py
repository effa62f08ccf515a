"""Every method on twelve architectures: it runs, or refuses in one line, as docs/architectures.md states."""

import architecture_table
import pytest

SMALL = ("squeezenet1_1", "mobilenet_v3_small")  # the others with --torture
NETWORKS = [
    pytest.param(name, marks=() if name in SMALL else pytest.mark.torture) for name in architecture_table.NETWORKS
]
ANY_NETWORK = ("gradient", "integrated-gradients", "occlusion", "rise", "grad-cam", "lrp-z", "lrp-alpha-beta")


@pytest.mark.parametrize("network", NETWORKS)
def test_the_page_states_what_runs(network):
    found = architecture_table.outcomes(network)
    first = {name: architecture_table.first_clause(said) for name, said in found.items()}
    assert first == architecture_table.stated()[network]
    assert not any("\n" in said for said in found.values())
    assert {found[name] for name in ANY_NETWORK} == {architecture_table.RUNS}


def test_the_page_has_every_network_and_method():
    stated = architecture_table.stated()
    assert set(stated) == set(architecture_table.NETWORKS)
    for cells in stated.values():
        assert list(cells) == architecture_table.METHOD_NAMES
        assert not any(said.isdigit() for said in cells.values())
