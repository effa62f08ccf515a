"""The drawing kit: outlines, and the catalogues of what is drawn with them."""
