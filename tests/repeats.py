"""How often tests repeat what they try on other numbers: a few times, or many with --torture."""

torture = False


def often(times: int, torture_times: int) -> range:
    """The first numbers to try, as many as `times`, or as `torture_times` with --torture."""
    return range(torture_times if torture else times)
