"""The outputs of an ImageNet-1k network that belong to the classes of ImageNet-S50."""

from collections.abc import Sequence

OUTPUTS = 1000

# WordNet id to output. Ids: LUSSeg/ImageNet-S; order of the outputs: the 1000 ids sorted, as torchvision has them.
ROWS = {
    "n01443537": 1,  # goldfish
    "n01491361": 3,  # tiger shark
    "n01531178": 11,  # goldfinch
    "n01644373": 31,  # tree frog
    "n02104029": 222,  # kuvasz
    "n02119022": 277,  # red fox
    "n02123597": 284,  # Siamese cat
    "n02133161": 295,  # American black bear
    "n02165456": 301,  # ladybug
    "n02281406": 325,  # sulphur butterfly
    "n02325366": 330,  # wood rabbit
    "n02342885": 333,  # hamster
    "n02396427": 342,  # wild boar
    "n02483362": 368,  # gibbon
    "n02504458": 386,  # African elephant
    "n02510455": 388,  # giant panda
    "n02690373": 404,  # airliner
    "n02747177": 412,  # ashcan
    "n02783161": 418,  # ballpoint
    "n02814533": 436,  # beach wagon
    "n02859443": 449,  # boathouse
    "n02917067": 466,  # bullet train
    "n02992529": 487,  # cellular telephone
    "n03014705": 492,  # chest
    "n03047690": 502,  # clog
    "n03095699": 510,  # container ship
    "n03197337": 531,  # digital watch
    "n03201208": 532,  # dining table
    "n03445777": 574,  # golf ball
    "n03452741": 579,  # grand piano
    "n03584829": 606,  # iron
    "n03630383": 617,  # lab coat
    "n03775546": 659,  # mixing bowl
    "n03791053": 670,  # motor scooter
    "n03874599": 695,  # padlock
    "n03891251": 703,  # park bench
    "n04026417": 748,  # purse
    "n04335435": 829,  # streetcar
    "n04380533": 846,  # table lamp
    "n04404412": 851,  # television
    "n04447861": 861,  # toilet seat
    "n04507155": 879,  # umbrella
    "n04522168": 883,  # vase
    "n04557648": 898,  # water bottle
    "n04562935": 900,  # water tower
    "n04612504": 914,  # yawl
    "n06794110": 919,  # street sign
    "n07749582": 951,  # lemon
    "n07831146": 959,  # carbonara
    "n12998815": 992,  # agaric
}


def rows_for(class_names: Sequence[str]) -> list[int] | None:
    """The outputs of an ImageNet-1k network that stand for some classes, in the classes' order.

    Parameters
    ----------
    class_names
        WordNet ids, such as ``"n01443537"``.

    Returns
    -------
    Numbers in 0..999, one for each class; None if any name is not the id of a class of ImageNet-S50, or there
    are none. A network that keeps these rows of its last layer has the same logits for these classes as
    before; its softmax is over them alone and not over 1000 classes.
    """
    if not class_names or any(name not in ROWS for name in class_names):
        return None
    return [ROWS[name] for name in class_names]
