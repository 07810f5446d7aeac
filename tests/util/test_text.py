"""Words of a plugin, whatever they are, come out as one line that no terminal obeys."""

from hypothesis import given
from hypothesis import strategies as st

from aacbench.util.text import one_line


@given(st.text(), st.integers(4, 50))
def test_any_text_is_one_line_that_can_be_printed(text, most):
    assert one_line(text).isprintable()
    assert len(one_line(text, most)) <= most
    assert one_line(one_line(text)) == one_line(text)


def test_what_is_plain_stays_and_what_is_not_is_spelt_out():
    assert one_line("h(3, 4) exceeds the distance") == "h(3, 4) exceeds the distance"
    assert one_line("red \x1b[31m, null \0\n and a line") == "red \\x1b[31m, null \\x00 and a line"
    assert one_line("too long", 6) == "too..."
