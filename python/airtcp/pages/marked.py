"""Pages with a generated part between two marks."""


def put(text: str, mark: str, content: str) -> str:
    """Replaces the text between two marks.

    Raises:
        ValueError: the marks are not there.
    """
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"no place for {mark}: expected {begin} and {end}")
    return f"{before}{begin}\n{content}\n{end}{after}"
