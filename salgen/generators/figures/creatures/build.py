"""The measures and colours that the parts of a cartoon creature share."""

from dataclasses import dataclass

from salgen.generators.figures.creatures.choices import Choices, Tint, shade
from salgen.generators.figures.creatures.drawing import Drawing

INK: Tint = (34, 28, 44)
LINE = 0.009  # width of outlines
SKINS: tuple[Tint, ...] = (
    (122, 92, 190),
    (64, 152, 150),
    (92, 164, 84),
    (206, 78, 84),
    (72, 124, 204),
    (214, 116, 168),
    (150, 104, 76),
    (116, 126, 148),
    (226, 132, 70),
    (60, 92, 120),
)


@dataclass(frozen=True)
class Build:
    """The measures and colours that a creature's parts share."""

    reach: tuple[float, float]  # extent of the eyes, (up, aside)
    # crown, hem: where the body begins and ends
    crown: float
    hem: float
    # head, waist, hips: half its width at the eyes, below them and near the hem
    head: float
    waist: float
    hips: float
    # skin, dress, pale, gleams: colours of the body, of what it wears, of its pale parts, and of buckle or buttons,
    # teeth and horns
    skin: Tint
    dress: Tint
    pale: Tint
    gleams: tuple[Tint, Tint, Tint]

    def outline(self, lean: float = 0.0) -> list[tuple[float, float]]:
        """The corners that the body's outline is rounded from."""
        right = [
            (self.crown, 0.55 * self.head),
            (self.crown * 0.5, self.head),
            (0.02, self.head * 1.02),
            (0.45 * self.hem, self.waist),
            (0.75 * self.hem, self.hips),
            (self.hem, 0.9 * self.hips),
        ]
        left = [(down, -across) for down, across in reversed(right)]
        return [(down, across + lean * down) for down, across in right + left]


def new_build(reach: tuple[float, float], gleams: tuple[Tint, Tint], choices: Choices) -> Build:
    """A random build around eyes of this extent (up, aside), in any colours."""
    up, aside = reach
    head = aside + choices.between(0.045, 0.085)
    skin = choices.near(choices.of(SKINS), 16)
    return Build(
        reach=reach,
        crown=-(up + choices.between(0.07, 0.12)),
        hem=choices.between(0.34, 0.42),
        head=head,
        waist=head * choices.between(0.7, 1.1),
        hips=head * choices.between(0.75, 1.25),
        skin=skin,
        dress=choices.near(choices.of([tint for tint in SKINS if abs(tint[0] - skin[0]) > 40]), 16),
        pale=shade(skin, choices.between(1.3, 1.5)),
        gleams=(choices.of(gleams), choices.of(gleams), choices.of(gleams)),
    )


def no_part(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Draw nothing: a part that this creature does not have."""
