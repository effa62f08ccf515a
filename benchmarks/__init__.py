"""Speed beside other libraries, measured in one run: ``make bench``."""

import salgen as salgen  # before NumPy, whose sort it chooses
