import pytest
from quick_generators import quick
from salgen.errors import SalgenError
from salgen.generators.factory import generator

SMALL = {"image_size": (32, 32)}
PARAMETERS = [
    ("uniform-lesions", {"diameter": 65}, "must fit into the image of 64x64"),
    ("uniform-lesions", {"window": "hann", "diameter": 2}, "takes 3 or more"),
    ("uniform-lesions", {"lesion_classes": "one_vs_two", "lesions": 3}, "takes 2"),
    ("drawn-signs", {**SMALL, "square_side": 17}, r"square_side = 17: .* must be at least 34 pixels"),
    ("drawn-signs", {**SMALL, "square_side": 10, "margin": 13}, r"= 10: with margin = 13 .* at least 33 .* is 32x32"),
    ("drawn-signs", {**SMALL, "square_side": 10, "enlarge": 3.5}, r"enlarge = 3.5 .* at least 35"),
    ("textured-shapes", {"ignore": "half"}, "drop, background"),
    ("multi-objects", {"objects": "dog"}, "give 2 or more"),
    ("multi-objects", {"objects": "dog,dog"}, "each once"),
    ("multi-objects", {"objects": "dog,cat"}, "objects_per_image = 4: objects has 2 classes"),
    ("multi-objects", {"objects_per_image": "3,2"}, "the least must not be above the most"),
    ("multi-objects", {"area": "0.01,0.02", "image_size": "16,16"}, "show nothing"),
    ("multi-objects", {"scenes": ""}, "give 1 or more"),
    ("bam", {"objects": ("dgo", "cat")}, "unknown object 'dgo': did you mean 'dog'"),
    ("bam", {"scenes": ("bedrom", "runway")}, "unknown scene 'bedrom': did you mean 'bedroom'"),
    ("bam", {"objects": ("dog",)}, "give 2 or more, each once"),
    ("bam", {"scenes": ("runway", "runway")}, "give 2 or more, each once"),
    ("bam", {"common_in": 11}, "common_in = 11: there are only 10 scenes"),
    ("coloured-cells", {"cell": 5}, "cell x spot = 15 must divide the image, which is 54x54"),
    ("coloured-cells", {"cell": 9}, "3 colours need 36"),
    ("logic-slots", {"image_size": (49, 48)}, "grid = 2 must divide"),
    ("cancelling-patches", {"patch": 5}, "two patches = 10 must divide"),
]
MARKED = [f"drawn-{name}" for name in ("people", "places", "luggage", "pets", "actions")]
SOURCES = {
    "drawn-signs": "takes photographs; your own copy is read by gtsrb-square",
    "drawn-lights": "takes photographs; your own copy is read by lisa-lights",
    "textured-shapes": "takes photographs; your own copy is read by imagenet-s50",
    "coloured-cells": "takes none",
    "multi-objects": "voc-2012 and coco-2017 are imported",
    "bam": "/somewhere/coco or /somewhere/miniplaces is expected, .* neither exists",
    **{name: f"^source = '/somewhere': {name} is drawn and takes none$" for name in MARKED},
}
EDITS = [
    ("drawn-figures", {"omit": ("nose",)}, "edit nose: omits eyes, left_eye, right_eye"),
    ("drawn-figures", {"change": {"eyes": "red"}}, "edit eyes = 'red': .* changes eyes to white, yellow"),
    ("drawn-lights", {"omit": ("halo",)}, "edit halo: omits lamp, and"),
    ("drawn-lights", {"change": {"lamp": "amber"}}, "edit lamp = 'amber': .* changes lamp to green, red"),
    ("drawn-signs", {"omit": ("sign",)}, "edit sign: omits square, and changes nothing"),
    ("drawn-signs", {"change": {"square": "red"}}, "edit square = 'red'"),
    ("textured-shapes", {"omit": ("background",)}, "edit background: omits object"),
    ("textured-shapes", {"change": {"object": "none"}}, "edit object = 'none'"),
    *((name, {"omit": ("hat",)}, "edit hat: omits") for name in MARKED),
    ("perlin-lesions", {"omit": ("lesion_3",)}, "edit lesion_3: omits lesions, lesion_1, lesion_2"),
    ("perlin-lesions", {"change": {"lesion_1": 0}}, "edit lesion_1 = 0"),
]


def refused(said, make):
    with pytest.raises(SalgenError, match=said):
        make()


@pytest.mark.parametrize(("name", "parameters", "said"), PARAMETERS)
def test_parameters_that_cannot_be(name, parameters, said):
    refused(said, lambda: generator(name, **parameters))


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_that_it_does_not_take(name):
    refused(SOURCES[name], lambda: quick(name, source="/somewhere"))


@pytest.mark.parametrize(("name", "edit", "said"), EDITS)
def test_an_edit_of_what_it_does_not_have(name, edit, said):
    made = quick(name)
    refused(said, lambda: made.render(made.recipe(0, "train", 0), **edit))
