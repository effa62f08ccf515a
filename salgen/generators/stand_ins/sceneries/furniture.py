"""Drawings in the notation of `things`: furniture, goods and gear."""

FURNITURE = {
    "chair": """
        _ block -.4 0 .4 .5 @.9; _ block -.5 .5 .5 .64 @1.15; dark block -.44 .64 -.34 1; dark block .34 .64 .44 1
    """,
    "seat": "_ arch -.46 0 .46 .7 .3 @.9 /.2; _ block -.5 .6 .5 .84 @1.15 /.3; dark block -.34 .84 .34 1",
    "armchair": """
        _ arch -.4 0 .4 .7 .3 @.85; _ block -.5 .38 -.3 1 @1.05 /.3; _ block .3 .38 .5 1 @.95 /.3;
        _ block -.32 .55 .32 .95 @1.1 /.3
    """,
    "stool": "_ ring 0 .08 .5 .1 @1.1; metal block -.07 .12 .07 .92 @.8; metal ring 0 .94 .36 .07 @.7",
    "round table": """
        metal block -.06 .2 .06 .9 @.7; metal ring 0 .92 .24 .08 @.7; wood ring 0 .22 .5 .18 @.8;
        wood ring 0 .18 .5 .17 @1.15
    """,
    "laid table": """
        white poly -.5 .25, .5 .25, .44 1, -.44 1 @.8 /.4; white ring 0 .25 .5 .16 @1.05;
        glass ring -.26 .25 .1 .035; glass ring .26 .25 .1 .035; glass ring 0 .33 .1 .035; glass ring 0 .17 .1 .035;
        bright* ring 0 .14 .09 .1; leaf block -.03 .18 .03 .28
    """,
    "lamp": "metal block -.06 .4 .06 1; lamp poly -.28 0, .28 0, .5 .45, -.5 .45",
    "street lamp": "metal block -.06 .08 .06 1 @.6; metal block -.1 .06 .5 .1 @.6; lamp block .24 .09 .5 .13",
    "floodlight": "metal block -.05 .2 .05 1 @.7; dark block -.5 0 .5 .22; lamp panes 2 4 -.5 0 .5 .22 .12",
    "chandelier": """
        gold block -.02 0 .02 .5; gold ring 0 .7 .5 .14 @.9; gold ring 0 .86 .24 .12 @.8; lamp ring -.44 .55 .05 .1;
        lamp ring -.22 .55 .05 .1; lamp ring 0 .55 .05 .1; lamp ring .22 .55 .05 .1; lamp ring .44 .55 .05 .1
    """,
    "lantern": "dark block -.04 0 .04 .2; clay ring 0 .6 .5 .4 @1.1 /.3; gold block -.2 .94 .2 1",
    "pendant": """
        dark block -.03 0 .03 .7; metal poly -.2 .6, .2 .6, .5 .92, -.5 .92 @.8; lamp ring 0 .93 .4 .07
    """,
    "curtain": """
        cloth block -.5 0 .5 1 @.9; cloth block -.5 0 -.42 1 @.65; cloth block -.3 0 -.22 1 @.75;
        cloth block -.1 0 -.02 1 @.65; cloth block .1 0 .18 1 @.75; cloth block .3 0 .38 1 @.65
    """,
    "painting": """
        gold block -.5 0 .5 1 @.8; cloth* block -.42 .1 .42 .9 @1.1 /-.3; bright* ring -.1 .5 .2 .22;
        leaf* block -.42 .66 .42 .9
    """,
    "mirror": """
        gold block -.5 0 .5 1 @.8; glass block -.44 .06 .44 .94 @1.1 /.3; lamp ring -.48 .1 .05 .04;
        lamp ring -.48 .37 .05 .04; lamp ring -.48 .63 .05 .04; lamp ring -.48 .9 .05 .04; lamp ring .48 .1 .05 .04;
        lamp ring .48 .37 .05 .04; lamp ring .48 .63 .05 .04; lamp ring .48 .9 .05 .04
    """,
    "statue": """
        wood block -.4 .66 .4 1 @.9 /.2; stone ring 0 .08 .13 .08 @1.1;
        stone poly -.24 .18, .24 .18, .16 .4, .26 .66, -.26 .66, -.16 .4 @1.05 /.3
    """,
    "board": """
        wood block -.5 0 .5 1 @.8; _ block -.48 .04 .48 .94 @.9; white block -.4 .16 .05 .2 @.9;
        white block -.4 .33 .17 .37 @.9; white block -.4 .5 .29 .54 @.9; white block -.4 .67 .05 .71 @.9
    """,
    "screen": "dark block -.5 0 .5 1; glass block -.46 .06 .46 .9 @1.1 /.5; bright* block -.36 .2 .1 .5 @.9",
    "computer": """
        dark block -.5 0 .5 .72; glass block -.44 .06 .44 .64 @1.1 /.4; dark block -.08 .72 .08 .94;
        dark block -.3 .92 .3 1
    """,
    "dial": """
        metal ring 0 .5 .46 .46 @.8; dark ring 0 .5 .38 .38 @.8; lamp poly -.04 .5, .2 .2, .26 .24, .04 .54;
        white block -.2 .68 .2 .74
    """,
    "display": """
        metal block -.46 .05 .46 .95 @.6; dark block -.4 .11 .4 .89 @.9; pool block -.4 .11 .4 .5 @.9;
        earth block -.4 .5 .4 .72; white block -.22 .48 .22 .52
    """,
    "locker": """
        clay2 block -.46 .01 .46 .99 /.12; dark block -.24 .1 .24 .125; dark block -.24 .15 .24 .175;
        dark block -.24 .2 .24 .225; metal block .22 .5 .34 .6 @1.2
    """,
    "drawers": """
        wood block -.5 0 .5 1 @.75; wood block -.44 .06 .44 .31 @1.05 /.2; wood block -.44 .37 .44 .62 @1.05 /.2;
        wood block -.44 .68 .44 .93 @1.05 /.2; metal block -.08 .16 .08 .2 @1.2; metal block -.08 .47 .08 .51 @1.2;
        metal block -.08 .78 .08 .82 @1.2
    """,
    "stove": """
        metal block -.48 0 .48 1 @.95; dark block -.38 .3 .38 .85 @1.1; glass block -.3 .4 .3 .75 @.5;
        dark ring -.33 .13 .06 .06; dark ring -.11 .13 .06 .06; dark ring .11 .13 .06 .06; dark ring .33 .13 .06 .06
    """,
    "basin": """
        white ring 0 .2 .5 .2 @1.05; white ring 0 .2 .38 .13 @.75;
        white poly -.4 .28, .4 .28, .16 .6, .14 1, -.14 1, -.16 .6 @.9 /.3; metal block -.03 -.06 .03 .14 @1.2
    """,
    "shower head": """
        metal block -.02 .06 .03 1 @1.1; metal block -.02 .06 .36 .09 @1.1;
        metal poly .22 .09, .4 .09, .5 .16, .12 .16 @.9
    """,
    "fridge": """
        metal block -.5 0 .5 1 @1.1 /.15; dark block -.5 .36 .5 .375; dark block -.42 .2 -.36 .34;
        dark block -.42 .4 -.36 .6
    """,
    "goods": "bright* block -.42 .25 .42 1 /.2; white block -.26 .5 .26 .74 @.9",
    "books": "cloth* block -.5 .1 -.18 1; cloth* block -.16 .22 .16 1; bright* block .18 .06 .48 1 @.85",
    "jar": "glass block -.4 .15 .4 1; bright* ring 0 .66 .4 .36 @1.1 /.2; metal block -.36 .04 .36 .18 @.8",
    "bottle": """
        bright* block -.12 0 .12 .5 @.6; bright* arch -.3 .3 .3 1 .3 @.7 /-.2; white block -.3 .58 .3 .8 @.9
    """,
    "loaf": "food* ring 0 .65 .46 .35 /.4; food poly -.2 .5, .2 .42, .22 .5, -.18 .58 @1.25",
    "carcass": """
        metal block -.03 0 .03 .1; meat* ring 0 .3 .28 .22 /.2; meat* ring 0 .66 .46 .34 @.95 /.3;
        white ring -.1 .6 .14 .22 @.9
    """,
    "cut": "white ring 0 .6 .48 .36 @.9; meat* ring .02 .58 .38 .28",
    "fruit": "bright* ring -.22 .66 .26 .32 /.4; bright* ring .22 .62 .26 .32 @.95 /.4",
    "garment": """
        metal block -.03 0 .03 .1;
        cloth* poly -.12 .08, .12 .08, .5 .24, .4 .4, .32 .4, .34 1, -.34 1, -.32 .4, -.4 .4, -.5 .24 /.25
    """,
    "head": "skin* ring 0 .32 .3 .3; cloth* poly -.5 1, -.36 .6, .36 .6, .5 1 @.95",
    "pin": """
        white poly -.14 .1, 0 0, .14 .1, .16 .3, .36 .65, .24 1, -.24 1, -.36 .65, -.16 .3 @1.1 /.1;
        clay block -.17 .26 .17 .36
    """,
    "ball": "bright* ring 0 .5 .5 .5 @.95 /.6; white ring -.16 .3 .12 .12 @1.1",
    "tent": """
        cloth poly -.1 0, .5 1, -.5 1 @1.1 /.2; cloth poly -.1 0, .22 .1, .72 .9, .5 1 @.75;
        dark poly -.1 .25, .1 1, -.26 1
    """,
    "campfire": """
        bark poly -.5 .9, .4 .76, .42 .86, -.48 1; bark poly .5 .9, -.4 .76, -.42 .86, .48 1;
        fire poly 0 0, .26 .5, .18 .86, -.18 .86, -.26 .46; lamp poly 0 .4, .12 .7, 0 .86, -.12 .7
    """,
    "gravestone": """
        stone* arch -.4 0 .4 1 .4 /.25; dark block -.22 .34 .22 .38; dark block -.22 .48 .22 .52;
        grass block -.5 .93 .5 1 @.7
    """,
    "gravecross": "stone block -.1 0 .1 1; stone block -.4 .22 .4 .38 @1.1",
    "umbrella": """
        metal block -.02 .1 .02 1; bright* poly 0 0, .5 .3, .46 .36, -.46 .36, -.5 .3 /.2;
        white poly 0 0, .16 .36, -.16 .36 @.95
    """,
    "stall": """
        wood block -.46 .1 -.42 1; wood block .42 .1 .46 1; dark block -.42 .2 .42 .66 @1.4;
        food* panes 1 6 -.42 .54 .42 .68 .06; wood block -.46 .66 .46 1 @.9 /.3;
        white poly -.4 0, -.267 0, -.36 .24, -.54 .24 /.2; bright poly -.267 0, -.134 0, -.18 .24, -.36 .24 /.2;
        white poly -.134 0, -.001 0, 0 .24, -.18 .24 /.2; bright poly -.001 0, .132 0, .18 .24, 0 .24 /.2;
        white poly .132 0, .265 0, .36 .24, .18 .24 /.2; bright poly .265 0, .398 0, .54 .24, .36 .24 /.2
    """,
    "posts": """
        gold block -.03 .55 .03 1; gold block -.5 .52 .5 .57; gold block -.5 0 -.46 .55; gold block .46 0 .5 .55
    """,
    "swing": """
        bright poly -.42 0, -.38 0, -.46 1, -.5 1; bright poly .42 0, .38 0, .46 1, .5 1;
        bright block -.42 0 .42 .05; dark block -.24 .05 -.225 .75 @1.2; dark block -.1 .05 -.085 .75 @1.2;
        dark block .1 .05 .115 .75 @1.2; dark block .24 .05 .255 .75 @1.2; wood block -.25 .74 -.08 .8;
        wood block .09 .74 .26 .8
    """,
    "slide": """
        bright2 poly -.3 .2, -.1 .2, .5 .92, .5 1, .38 1 @1.05; metal block -.34 0 -.3 1; metal block -.12 0 -.08 1;
        metal block -.34 .3 -.08 .33; metal block -.34 .44 -.08 .47; metal block -.34 .58 -.08 .61;
        metal block -.34 .72 -.08 .75; metal block -.34 .86 -.08 .89; bright3 poly -.21 -.12, -.02 .04, -.4 .04
    """,
    "lift": """
        metal block -.05 .06 .05 1 @.7; metal block -.5 .06 .5 .11 @.7; dark block -.45 .11 -.35 .15;
        dark block .35 .11 .45 .15
    """,
    "gondola": """
        dark block -.03 0 .03 .4; bright arch -.5 .35 .5 1 .3 @.95 /.3; glass block -.4 .5 .4 .72 @.7
    """,
    "flag": "clay poly 0 .05, .5 .2, 0 .35; dark block -.04 0 .03 1 @1.5",
    "hurdle": """
        white block -.5 0 .5 .24; dark block -.2 .02 .2 .2; metal block -.48 .2 -.44 1; metal block .44 .2 .48 1
    """,
    "bag": "dark block -.03 -.4 .03 .05; clay arch -.4 0 .4 1 .1 @.9 /.3",
    "fish": """
        bright* poly -.5 .5, -.2 .12, .2 .3, .3 .5, .2 .7, -.2 .88 /.2;
        bright* poly .2 .5, .5 .1, .44 .5, .5 .9 @.85
    """,
}
