"""The report on the papers."""

from airtcp.report.papers.page import write_papers_report

__all__ = ["write_papers_report"]
