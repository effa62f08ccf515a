"""The drawing kit: outlines, painting, photographs, and catalogues of drawings."""
