"""salgen: which saliency method can I believe?"""
