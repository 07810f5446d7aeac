"""Text for messages: one printable line whatever a plugin says, and names that resemble a misspelt one."""

from hypothesis import given
from hypothesis import strategies as st

from aacbench.util.text import near_names, one_line, suggestion

KNOWN = ("alt", "alt-pool", "ALT-Max", "dijkstra")


@given(st.text(), st.integers(4, 50))
def test_any_text_is_one_line_that_can_be_printed(text, most):
    assert one_line(text).isprintable()
    assert len(one_line(text, most)) <= most
    assert one_line(one_line(text)) == one_line(text)


def test_what_is_plain_stays_and_what_is_not_is_spelt_out():
    assert one_line("h(3, 4) exceeds the distance") == "h(3, 4) exceeds the distance"
    assert one_line("red \x1b[31m, null \0\n and a line") == "red \\x1b[31m, null \\x00 and a line"
    assert one_line("too long", 6) == "too..."


def test_a_name_is_found_whatever_its_case():
    assert near_names("DIJKSTAR", KNOWN) == ["dijkstra"]
    assert near_names("alt-maxx", KNOWN) == ["ALT-Max"]


def test_the_nearest_come_first_and_no_more_than_asked():
    assert near_names("alt-pol", KNOWN, most=3) == ["alt-pool", "alt"]
    assert near_names("alt-pol", KNOWN) == ["alt-pool"]


def test_names_that_differ_in_case_alone_are_all_found():
    assert near_names("grid", ["Grid", "GRID", "maze"], most=3) == ["Grid", "GRID"]


def test_nothing_near_is_nothing_said():
    assert suggestion("quite-another", KNOWN) == "."
    assert suggestion("alt-pol", KNOWN) == "; did you mean 'alt-pool'?"
