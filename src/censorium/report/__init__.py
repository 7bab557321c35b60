"""Outcomes -> one self-contained page."""

from censorium.report.page import write_report

__all__ = ["write_report"]
