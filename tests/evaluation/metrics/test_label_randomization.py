import numpy as np
import pytest
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.map_similarity import SIMILARITIES, similarities
from salgen.evaluation.scoring.metric_selection import swept

NAME = "label-randomization"
MAPS, OTHERS = np.random.default_rng(0).normal(size=(2, 5, 12, 13)).astype(np.float32)


def scored(maps, others, calls=NAME, **options):
    return salgen.score(maps, metrics=calls, shuffled_maps=others, **options)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_every_similarity(name):
    call = f"{NAME}:similarity={name}"
    expected = [similarities(name, a, [b])[0] for a, b in zip(MAPS, OTHERS, strict=True)]
    assert scored(MAPS, OTHERS, call)[call].tolist() == expected
    assert scored(MAPS, MAPS, call)[call] == pytest.approx(np.ones(5), abs=1e-12)


def test_a_run_takes_all_four():
    assert len(swept([NAME])) == 4
    assert len(scored(MAPS, OTHERS, swept([NAME]))) == 4


def test_faults():
    maps, others = MAPS.copy(), OTHERS.copy()
    maps[0], others[1], others[2, 0, 0], maps[3, 0, 0] = 0.5, 0.0, np.nan, np.inf
    region = np.ones((12, 13), dtype=bool)
    scores = scored(maps, others)
    assert scores.reasons[NAME] == ["constant_map", "constant_map", "non_finite_map", "non_finite_map", ""]
    np.testing.assert_array_equal(scores[NAME][:4], [np.nan, 0.0, np.nan, np.nan])
    assert scores.worst_case[NAME][:4].tolist() == [1.0, 0.0, 1.0, 1.0]
    region[0, 0] = False  # the whole map counts all the same
    assert scored(maps, others, valid=region).reasons == scores.reasons


def test_wrongly_classified_samples_count_and_no_mask_is_needed():
    found = scored(MAPS, OTHERS, correct=[False] * 5)
    assert found.reasons[NAME] == [""] * 5


def test_another_similarity_is_refused():
    with pytest.raises(SalgenError, match="must be one of spearman, spearman-abs, ssim, hog"):
        scored(MAPS, OTHERS, f"{NAME}:similarity=mse")
