import pytest
from quick_generators import quick
from salgen.generators.drawing.photographs import photographs

USED = {
    "drawn-signs": lambda parameters: {parameters["photograph"]},
    "drawn-lights": lambda parameters: {parameters["street"]["photograph"]},
    "textured-shapes": lambda parameters: set(parameters["photographs"]),
}


@pytest.mark.parametrize("name", USED)
def test_photographs_are_divided_among_the_splits_and_the_notes_count_them(name):
    made = quick(name)
    assert made.source is photographs()
    assert "11 photographs" in made.source.notes
    assert "6 for train, 2 for val, 3 for test" in made.source.notes
    used = {
        split: set.union(*(USED[name](made.recipe(0, split, index).parameters) for index in range(60)))
        for split in ("train", "val", "test", "test_moved")
    }
    assert [len(names) for names in used.values()] == [6, 2, 3, 3]
    assert len(used["train"] | used["val"] | used["test"]) == 11
    assert used["test"] == used["test_moved"]
