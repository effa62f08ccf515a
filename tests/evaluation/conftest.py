"""Fixtures of the tests that look at pages in a browser."""

from browsers import browser, watched  # noqa: F401
