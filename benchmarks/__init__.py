"""Speed beside other libraries, measured in one run: ``make bench``."""
