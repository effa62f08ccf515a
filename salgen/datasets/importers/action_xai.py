"""Importer of Saliency-Bench's Action-XAI: activities of ACT-X."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.layouts.saliency_bench.act_x import read_act_x
from salgen.datasets.layouts.saliency_bench.marked_images import Found
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.parameters import param

NAMES = ("action-xai",)


@dataclass(frozen=True)
class ActionXai(MarkedImages):
    """Photographs of people's activities, with what others pointed to as evidence: Action-XAI of Saliency-Bench.

    Give the folder of your own copy of ACT-X that holds `textual/exp_train_split.json` (`val` and `test` too) and
    `visual/val` and `visual/test`, or one that holds it as `ACT-X`, with the folder `images` of MPII Human Pose in
    either; or one of Saliency-Bench with `image` and `attention_label`. A map in `visual` is an array (`.npy`) or a
    picture, named as its record or its image. The benchmark chose 127 activities by a language model; here an activity
    is a class if at least `least` images show it. Images without a map, which are all of ACT-X's training part, are
    trained on, and not scored. Of each class 70 % of the images are for training, 15 % for validation and 15 % for
    test. Images are resized as a whole, bilinearly, and masks to the nearest pixel. Broken files are skipped, and the
    card counts them.

    References
    ----------
    Park et al. 2018, *Multimodal explanations: justifying decisions and pointing to the evidence* (CVPR). Zhang et al.
    2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual explanations* (KDD).
    """

    name: ClassVar[str] = "action-xai"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "action-xai"
    stand_in: ClassVar[str] = "drawn-actions"
    task: ClassVar[str] = "activity"
    region: ClassVar[str] = "evidence"

    least: int = param(20, "images of an activity that is a class", low=1)

    def read_layout(self, path: Path) -> Found:
        """The images of frequent activities of a copy."""
        return read_act_x(path, self.least)
