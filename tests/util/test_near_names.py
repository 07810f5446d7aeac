"""Names near an unknown one: whatever the case, nearest first, and nothing where nothing is near."""

from aacbench.util.text import near_names, suggestion

KNOWN = ("alt", "alt-pool", "ALT-Max", "dijkstra")


def test_a_name_is_found_whatever_its_case():
    assert near_names("DIJKSTAR", KNOWN) == ["dijkstra"]
    assert near_names("alt-maxx", KNOWN) == ["ALT-Max"]


def test_the_nearest_come_first_and_no_more_than_asked():
    assert near_names("alt-pol", KNOWN, most=3) == ["alt-pool", "alt"]
    assert near_names("alt-pol", KNOWN) == ["alt-pool"]


def test_names_that_differ_in_case_alone_are_all_found():
    assert near_names("grid", ["Grid", "GRID", "maze"], most=3) == ["Grid", "GRID"]


def test_nothing_near_is_nothing_said():
    assert suggestion("quite-another", KNOWN) == ""
    assert suggestion("alt-pol", KNOWN) == "perhaps 'alt-pool' is meant; "
