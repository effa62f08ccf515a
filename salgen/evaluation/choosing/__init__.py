"""The choice of a saliency method for one network, from a few images with masks."""
