"""The results of a study as text: its table, its times, those of a study on maps, and what its variants are worth."""

from collections.abc import Sequence

from aacbench.reports import contextual, controls, latency, tables
from aacbench.reports.formatting import table_notes
from aacbench.reports.latency import Latency
from aacbench.reports.tables import Row
from aacbench.run.study import StudyContents


def study_text(
    contents: StudyContents, rows: Sequence[Row], times: Sequence[Latency], plain_reasons: bool = False
) -> str:
    """Return Markdown; with `plain_reasons`, for a terminal, reasons of failures are not escaped."""
    own = [row for row in rows if not row.variant]
    parts = [tables.markdown(own, table_notes(contents.plan), plain_reasons), *contextual.tables(contents)]
    if own_times := [row for row in times if not row.variant]:
        parts.append(latency.markdown(own_times))
    if found := controls.controls_of(contents):
        parts.append(controls.markdown(found))
    elif contents.has_variants:
        parts.append(controls.ONE_METHOD)
    return "\n\n".join(parts)
