"""Explaining: from a model, images and a method to saliency maps, with shared passes and reductions."""
