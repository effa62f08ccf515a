from hypothesis import given
from hypothesis import strategies as st
from salgen.datasets.layouts.own_images.own_split import by_shares
from salgen.datasets.layouts.saliency_bench.marked_images import some_of

ITEMS = [f"{number:05}.jpg" for number in range(4000)]


@given(st.sets(st.text(max_size=5), max_size=12), st.integers(0, 15), st.integers(0, 5))
def test_so_many_are_chosen_whatever_their_order(items, count, seed):
    chosen = some_of(sorted(items), count, seed)
    assert chosen <= items
    assert len(chosen) == min(count, len(items))
    assert chosen == some_of(sorted(items, reverse=True), count, seed)
    assert some_of(items, max(count - 1, 0), seed) <= chosen


def test_who_was_chosen_of_many_is_in_each_split_as_often_as_others():
    """Were both by one order, the test split would hold the chosen ones alone, as they are the first of theirs."""
    others, chosen = ITEMS[:400], some_of(ITEMS[400:], 400, 0)
    splits = by_shares({0: [*others, *chosen]}, (0.7, 0.15, 0.15), 0)
    tested = [item for item, split in splits.items() if split == "test"]
    assert len(tested) == 120
    assert 40 <= len(chosen.intersection(tested)) <= 80
