"""Drawings in the notation of `things`: buildings, vehicles and machines."""

BUILDINGS = {
    "window": "white block -.5 0 .5 1 @.9; glass panes 2 2 -.46 .04 .46 .96 .06",
    "pane": "metal block -.5 0 .5 1 @.7; glass panes 1 1 -.46 .05 .46 .95 .02",
    "dark window": "dark block -.4 .1 .4 .9 /-.5",
    "lancet": "stone arch -.5 0 .5 1 .4 @1.15; dark arch -.36 .08 .36 .95 .4 /-.8",
    "door": "wood2 block -.5 0 .5 1 @.7; wood2 block -.42 .05 .42 1 /.2; metal block .25 .5 .34 .56 @1.3",
    "roller door": """
        white block -.5 0 .5 1 @.8; bright block -.44 .06 .44 .19 @.9 /.2; bright block -.44 .22 .44 .35 @.9 /.2;
        bright block -.44 .38 .44 .51 @.9 /.2; bright block -.44 .54 .44 .67 @.9 /.2;
        bright block -.44 .7 .44 .83 @.9 /.2; bright block -.44 .86 .44 .99 @.9 /.2
    """,
    "house": """
        wall block -.42 .38 .42 1 @.95 /.15; roof poly -.3 0, .3 0, .5 .42, -.5 .42 /.2;
        dark panes 1 3 -.4 .5 .4 .72 .25; wood2 block -.08 .68 .08 1
    """,
    "chalet": """
        stone block -.4 .72 .4 1 @1.05; wood block -.4 .4 .4 .74 @.85; wood poly 0 .1, .4 .42, -.4 .42 @.85;
        roof poly 0 0, .56 .44, .5 .5, 0 .1 @.8; roof poly 0 0, -.56 .44, -.5 .5, 0 .1 @1.1;
        lamp panes 1 4 -.36 .44 .36 .58 .2; wood2 block -.46 .62 .46 .72 @1.1 /.3;
        glass panes 1 3 -.36 .78 .36 .94 .2
    """,
    "shed": """
        wood block -.42 .34 .42 1 @.9; wood block -.3 .34 -.28 1 @.6; wood block -.18 .34 -.16 1 @.6;
        wood block -.06 .34 -.04 1 @.6; wood block .06 .34 .08 1 @.6; wood block .18 .34 .2 1 @.6;
        wood block .3 .34 .32 1 @.6; wood poly 0 .06, .42 .36, -.42 .36 @.8;
        roof poly 0 0, .54 .38, .5 .44, 0 .08 @.85; roof poly 0 0, -.54 .38, -.5 .44, 0 .08 @1.1;
        wood2 block -.16 .5 .16 1 @.7; wood2 poly -.16 .5, -.12 .5, .16 1, .12 1 @1.2
    """,
    "shack": """
        metal* poly -.5 .25, .5 .12, .5 .3, -.5 .4 @.8; wall* block -.46 .3 .46 1 @.9 /.3; dark block -.3 .5 -.05 1;
        dark block .12 .5 .36 .72
    """,
    "church": """
        stone block -.1 .5 .5 1 @.95; roof poly -.1 .34, .44 .34, .5 .52, -.1 .52;
        stone block -.44 .36 -.08 1 @1.1 /.2; roof poly -.26 0, -.06 .38, -.46 .38 @.9;
        dark arch -.32 .44 -.2 .56 .4; dark arch -.34 .76 -.18 1 .4; dark arch .02 .6 .1 .86 .4;
        dark arch .18 .6 .26 .86 .4; dark arch .34 .6 .42 .86 .4; gold block -.268 -.08 -.252 .02;
        gold block -.3 -.055 -.22 -.04
    """,
    "abbey": """
        stone block -.5 .12 -.24 1 /.2; stone block .24 .12 .5 1 @.88 /.2;
        stone poly 0 .2, .26 .46, .26 1, -.26 1, -.26 .46 @1.1 /.2; stone poly -.46 -.02, -.42 .14, -.5 .14 @.9;
        stone poly -.28 -.02, -.24 .14, -.32 .14 @.9; stone poly .28 -.02, .32 .14, .24 .14 @.9;
        stone poly .46 -.02, .5 .14, .42 .14 @.9; dark arch -.43 .22 -.31 .44 .4 /-.5;
        dark arch -.43 .52 -.31 .74 .4 /-.5; dark arch .31 .22 .43 .44 .4 /-.5; dark arch .31 .52 .43 .74 .4 /-.5;
        glass ring 0 .5 .14 .1 @.8; dark arch -.14 .68 .14 1 .5 /-.5; dark arch -.44 .8 -.3 1 .5;
        dark arch .3 .8 .44 1 .5
    """,
    "monastery": """
        white block -.5 .6 .5 1 @.95 /.1; wall block -.36 .36 .3 .62 @1.05; roof block -.38 .33 .32 .38;
        white block .1 .16 .26 .6 @1.1; roof poly .18 0, .28 .18, .08 .18; roof block -.52 .57 .52 .62 @1.05;
        dark panes 2 8 -.46 .64 .46 .94 .3; dark panes 1 5 -.34 .42 .06 .56 .32
    """,
    "palace": """
        wall block -.5 .42 .5 1 @1.1 /.15; roof block -.52 .34 .52 .44 @.9; wall block -.16 .28 .16 1 @1.2 /.15;
        wall poly 0 .16, .2 .3, -.2 .3 @1.05; dark panes 2 5 -.48 .48 -.18 .94 .24;
        dark panes 2 5 .18 .48 .48 .94 .24; white block -.15 .34 -.115 1 @1.1; white block -.075 .34 -.04 1 @1.1;
        white block 0 .34 .035 1 @1.1; white block .075 .34 .11 1 @1.1; roof ring 0 .12 .09 .12 @1.1 /.3;
        roof ring -.45 .34 .06 .1 @1.1; roof ring .45 .34 .06 .1 @1.1
    """,
    "pagoda": """
        wood2 block -.12 .18 .12 .36 @.9; lamp panes 1 3 -.11 .22 .11 .34 .3;
        roof poly -.11 .1, .11 .1, .28 .16, .26 .23, -.26 .23, -.28 .16 /.4;
        wood2 block -.168 .38 .168 .56 @.9; lamp panes 1 4 -.154 .42 .154 .54 .3;
        roof poly -.154 .3, .154 .3, .392 .36, .364 .43, -.364 .43, -.392 .36 /.4;
        wood2 block -.216 .6 .216 .78 @.9; lamp panes 1 5 -.198 .64 .198 .76 .3;
        roof poly -.198 .52, .198 .52, .504 .58, .468 .65, -.468 .65, -.504 .58 /.4;
        clay block -.3 .76 -.24 1; clay block .24 .76 .3 1; dark block -.22 .76 .22 1 @1.2;
        gold block -.012 -.02 .012 .12; stone block -.5 .94 .5 1 @1.1
    """,
    "lighthouse": """
        white poly -.3 .22, .3 .22, .5 1, -.5 1 /.1; bright poly -.316 .28, .316 .28, .356 .42, -.356 .42 @.95;
        bright poly -.383 .54, .383 .54, .423 .68, -.423 .68 @.95;
        bright poly -.451 .8, .451 .8, .491 .94, -.491 .94 @.95; dark block -.44 .19 .44 .23 @1.4;
        lamp block -.24 .08 .24 .19; roof poly 0 -.02, .32 .09, -.32 .09
    """,
    "booth": """
        bright block -.5 .06 .5 1 @.8; bright arch -.54 0 .54 .1 .8; white block -.4 .1 .4 .16;
        glass panes 5 3 -.42 .2 .42 .9 .07; dark block -.2 .4 .12 .62 @1.2; bright block -.44 .9 .44 1 @.9
    """,
    "boat": """
        white* poly -.5 .62, .5 .58, .38 1, -.4 1 /.3; bright* poly -.48 .7, .47 .66, .45 .76, -.46 .8;
        white block -.2 .42 .2 .62 @.9; dark panes 1 3 -.18 .45 .18 .56 .1; metal block -.02 0 .02 .45
    """,
    "sailboat": """
        white poly .02 0, .4 .74, .02 .76 @1.1; cloth poly -.03 .1, -.03 .76, -.36 .74 @1.1;
        wood poly -.5 .8, .5 .8, .34 1, -.36 1
    """,
    "car": """
        dark ring -.28 .86 .1 .14 @.7; dark ring .28 .86 .1 .14 @.7;
        bright* poly -.26 .1, .18 .1, .32 .46, -.38 .46 @.95; glass poly -.22 .16, .15 .16, .24 .42, -.31 .42 @.6;
        bright* poly -.46 .44, .46 .44, .5 .62, .49 .84, -.49 .84, -.5 .6 @.95 /.4
    """,
    "car back": """
        dark block -.42 .7 -.26 1; dark block .26 .7 .42 1; bright* poly -.3 .06, .3 .06, .44 .5, -.44 .5 @.95;
        glass poly -.26 .12, .26 .12, .36 .44, -.36 .44 @.6; bright* block -.5 .44 .5 .86 @.9 /.4;
        fire block -.48 .52 -.34 .62; fire block .34 .52 .48 .62
    """,
    "plane": """
        white poly -.5 .5, -.44 .42, .4 .42, .5 .5, .44 .6, -.42 .6 /.3;
        cloth poly .34 .44, .44 .12, .5 .12, .48 .48; metal poly -.1 .54, .06 .54, .26 .82, .16 .82 @.8;
        dark panes 1 10 -.4 .45 .34 .51 .3
    """,
    "washer": """
        white2 block -.48 0 .48 1 @.95 /.15; metal block -.46 .02 .46 .17 @.8; dark block -.4 .06 -.1 .13;
        bright ring .28 .095 .06 .045; metal ring 0 .56 .38 .33 @1.15 /.4; dark ring 0 .56 .29 .25 @.8;
        glass ring -.04 .53 .2 .17 @.6 /.8; cloth* ring .05 .65 .17 .09 @.8
    """,
    "pump": """
        white block -.4 .1 .4 1 @.95 /.1; bright block -.4 0 .4 .16; dark block -.28 .22 .28 .42 @1.2;
        bright block -.4 .66 .4 .8; dark block .34 .4 .48 .66
    """,
    "crane": """
        gold block -.28 .06 -.22 1; gold block -.5 .12 .5 .16; gold poly -.25 0, .4 .12, .4 .13, -.25 .02 @.8;
        concrete block -.48 .15 -.38 .24; dark block .29 .16 .3 .5; dark block .26 .5 .34 .54;
        dark poly -.28 .2, -.22 .26, -.22 .27, -.28 .21; dark poly -.28 .3, -.22 .36, -.22 .37, -.28 .31;
        dark poly -.28 .4, -.22 .46, -.22 .47, -.28 .41; dark poly -.28 .5, -.22 .56, -.22 .57, -.28 .51;
        dark poly -.28 .6, -.22 .66, -.22 .67, -.28 .61; dark poly -.28 .7, -.22 .76, -.22 .77, -.28 .71;
        dark poly -.28 .8, -.22 .86, -.22 .87, -.28 .81; dark poly -.28 .9, -.22 .96, -.22 .97, -.28 .91
    """,
    "train": """
        bright arch -.5 0 .5 1 .16 @.95 /.2; dark block -.42 .16 .42 .46 @1.2 /-.4;
        glass block -.38 .19 -.03 .43 @.7; glass block .03 .19 .38 .43 @.7; lamp ring -.34 .68 .07 .05;
        lamp ring .34 .68 .07 .05; metal block -.5 .78 .5 .84; dark block -.44 .9 .44 1
    """,
    "carriage": """
        bright block -.5 0 .5 1 @.95 /.2; glass panes 1 4 -.48 .15 .48 .5 .1; white block -.5 .62 .5 .7;
        metal block -.06 .1 .06 .95 @.8
    """,
    "ferris": """
        metal poly 0 .45, .2 1, .16 1, -.01 .5; metal poly 0 .45, -.2 1, -.16 1, .01 .5;
        bright poly .44 .462, .44 .438, -.44 .438, -.44 .462;
        bright poly .254 .809, .274 .795, -.254 .091, -.274 .105;
        bright poly -.012 .89, .012 .89, .012 .01, -.012 .01;
        bright poly -.359 .704, -.345 .724, .359 .196, .345 .176;
        bright poly -.44 .438, -.44 .462, .44 .462, .44 .438;
        bright poly -.254 .091, -.274 .105, .254 .809, .274 .795;
        bright poly .012 .01, -.012 .01, -.012 .89, .012 .89;
        bright poly .359 .196, .345 .176, -.359 .704, -.345 .724; white poly .44 .45, .46 .45, .406 .666, .388 .657;
        white poly .388 .657, .406 .666, .276 .818, .264 .802; white poly .264 .802, .276 .818, .129 .892, .123 .872;
        white poly .123 .872, .129 .892, -0 .91, -0 .89; white poly -0 .89, -0 .91, -.216 .856, -.207 .838;
        white poly -.207 .838, -.216 .856, -.368 .726, -.352 .714;
        white poly -.352 .714, -.368 .726, -.442 .579, -.422 .573;
        white poly -.422 .573, -.442 .579, -.46 .45, -.44 .45; white poly -.44 .45, -.46 .45, -.406 .234, -.388 .243;
        white poly -.388 .243, -.406 .234, -.276 .082, -.264 .098;
        white poly -.264 .098, -.276 .082, -.129 .008, -.123 .028; white poly -.123 .028, -.129 .008, 0 -.01, 0 .01;
        white poly 0 .01, 0 -.01, .216 .044, .207 .062; white poly .207 .062, .216 .044, .368 .174, .352 .186;
        white poly .352 .186, .368 .174, .442 .321, .422 .327; white poly .422 .327, .442 .321, .46 .45, .44 .45;
        bright* ring .45 .47 .05 .045; bright* ring .27 .83 .05 .045; bright* ring -0 .92 .05 .045;
        bright* ring -.36 .74 .05 .045; bright* ring -.45 .47 .05 .045; bright* ring -.27 .11 .05 .045;
        bright* ring 0 .02 .05 .045; bright* ring .36 .2 .05 .045
    """,
}
