"""Outcomes or audits -> one self-contained page."""

from censorium.report.audit_page import write_audit
from censorium.report.page import write_report
from censorium.report.study_page import write_study

__all__ = ["write_audit", "write_report", "write_study"]
