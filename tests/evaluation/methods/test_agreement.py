import agreement
import pytest

STATED = agreement.stated()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("network", agreement.NETWORKS)
@pytest.mark.parametrize("row", agreement.ROWS, ids=lambda row: row.name)
def test_a_method_agrees_with_a_library_as_well_as_the_page_says(row, network):
    found = agreement.difference(row, network)
    assert (found is None) == ((row.call, row.library, network) not in STATED)
    if found is not None:
        assert found <= STATED[row.call, row.library, network]


def test_the_page_states_agreement():
    """Every row of the table is on the page, and no difference there is one that matters."""
    assert {(row.call, row.library) for row in agreement.ROWS} == {key[:2] for key in STATED}
    assert max(STATED.values()) <= 1e-3
