import json
from collections import Counter
import numpy as np
import pytest
from salgen.generators.drawing.catalogue import FOLDER, catalogue
from salgen.generators.drawing.outlines import SHAPES, bar


@pytest.mark.parametrize("folder", sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))
def test_a_name_stands_once_in_a_folder(folder):
    names = [name for path in (FOLDER / folder).glob("*.json") for name in json.loads(path.read_text(encoding="utf-8"))]
    assert max(Counter(names).values()) == 1
    assert set(catalogue(f"{folder}/*.json")) == set(names)


def test_a_frame_is_two_boxes_of_opposite_turns_and_a_line_without_length_nothing():
    outer, inner = SHAPES["frame"](0, 0, 10, 10, 2)
    assert np.array_equal(inner[::-1], 2 + 0.6 * outer)
    assert not bar(np.zeros(2), np.zeros(2), 1.0).any()
