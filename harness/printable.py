"""Texts of others, such as a method's error, made fit for a line on a screen or in a table."""


def one_line(text: str, most: int | None = None) -> str:
    """The text in one line with what a terminal would obey spelt out, cut where it is longer than `most`."""
    words = " ".join(text.split())
    plain = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in words)
    return plain if most is None or len(plain) <= most else plain[: most - 3] + "..."
