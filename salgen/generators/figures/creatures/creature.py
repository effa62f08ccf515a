"""A cartoon creature fitted around a pair of eyes that are painted on it later.

Coordinates are (down, across) from the middle between the eyes, in shares of the image's shorter side.
"""

from salgen.generators.figures.creatures.build import INK, LINE, Build, new_build
from salgen.generators.figures.creatures.choices import Choices, Tint, shade
from salgen.generators.figures.creatures.drawing import Drawing, rounded
from salgen.generators.figures.creatures.dress import DRESSES, MARKS
from salgen.generators.figures.creatures.head import CROWNS, HATS, MOUTHS, draw_brows
from salgen.generators.figures.creatures.limbs import BACKS, STANDS, draw_arms


def draw_creature(drawing: Drawing, reach: tuple[float, float], gleams: tuple[Tint, Tint], choices: Choices) -> None:
    """Draw everything of a creature but its eyes.

    Parameters
    ----------
    drawing
        In a frame whose origin is between the eyes.
    reach
        Extent of the eyes, (up, aside).
    gleams
        The colours that eyes may have, used here whatever the eyes' colour is.
    choices
        Decide everything else.
    """
    build = new_build(reach, gleams, choices)
    choices.of(BACKS)(drawing, build, choices)
    choices.of(STANDS)(drawing, build, choices)
    draw_arms(drawing, build, choices)
    choices.of(CROWNS)(drawing, build, choices)
    body = _body(drawing, build, choices)
    choices.of(MARKS)(drawing, build, choices, body)
    choices.of(DRESSES)(drawing, build, choices, body)
    choices.of(HATS)(drawing, build, choices)
    choices.of(MOUTHS)(drawing, build, choices)
    draw_brows(drawing, build, choices)


def _body(drawing: Drawing, build: Build, choices: Choices) -> int:
    """Draw the body with a shaded side, and return the number of the first of its colours."""
    outline = rounded(build.outline(choices.between(-0.12, 0.12)))
    body = drawing.outlined(outline, shade(build.skin, 0.78), INK, LINE)
    side = choices.of((-1.0, 1.0))
    drawing.fill(outline - (0.012, 0.024 * side), build.skin, over=body)
    return body
