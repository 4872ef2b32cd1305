"""The report on the papers."""

from airtcp.pages.papers.page import write_papers_report

__all__ = ["write_papers_report"]
