from assembler.report.report import CacheRow as CacheRow
from assembler.report.report import Outcome as Outcome
from assembler.report.report import Report as Report
from assembler.report.report import Row as Row
from assembler.report.report import report_of as report_of
