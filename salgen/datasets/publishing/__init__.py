"""Publishing: releases as archives, on Hugging Face and on Zenodo."""
