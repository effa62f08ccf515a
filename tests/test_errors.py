"""Messages of errors: one printable line of bounded length, whatever is in them."""

from salgen.errors import LONGEST_MESSAGE, SalgenError, reason


def test_a_message_is_one_line_of_bounded_length():
    message = str(SalgenError("a\nb\r\0\ud800" + "x" * 5000 + " and what to do"))
    assert message.startswith("a b   x")
    assert message.endswith("x and what to do")
    assert message.isprintable()
    assert len(message) <= LONGEST_MESSAGE + 5
    assert reason(ValueError("  a\n  b")) == "a b"
    assert reason(MemoryError()) == "MemoryError"
