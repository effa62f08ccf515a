"""The layouts of a hundred scenes: BAM's ten first, then the others by name."""

from salgen.generators.stand_ins.sceneries.grammar import Layout
from salgen.generators.stand_ins.sceneries.layouts.greens import GREENS
from salgen.generators.stand_ins.sceneries.layouts.grounds import GROUNDS
from salgen.generators.stand_ins.sceneries.layouts.halls import HALLS
from salgen.generators.stand_ins.sceneries.layouts.heights import HEIGHTS
from salgen.generators.stand_ins.sceneries.layouts.homes import HOMES
from salgen.generators.stand_ins.sceneries.layouts.landmarks import LANDMARKS
from salgen.generators.stand_ins.sceneries.layouts.offices import OFFICES
from salgen.generators.stand_ins.sceneries.layouts.shops import SHOPS
from salgen.generators.stand_ins.sceneries.layouts.streets import STREETS
from salgen.generators.stand_ins.sceneries.layouts.ten_inside import TEN_INSIDE
from salgen.generators.stand_ins.sceneries.layouts.ten_outside import TEN_OUTSIDE
from salgen.generators.stand_ins.sceneries.layouts.waterside import WATERSIDE
from salgen.generators.stand_ins.sceneries.layouts.wonders import WONDERS

_TEN: dict[str, Layout] = {**TEN_INSIDE, **TEN_OUTSIDE}
_OTHERS: dict[str, Layout] = {
    **GREENS,
    **GROUNDS,
    **HALLS,
    **HEIGHTS,
    **HOMES,
    **LANDMARKS,
    **OFFICES,
    **SHOPS,
    **STREETS,
    **WATERSIDE,
    **WONDERS,
}

LAYOUTS: dict[str, Layout] = {name: scenes[name] for scenes in (_TEN, _OTHERS) for name in sorted(scenes)}
