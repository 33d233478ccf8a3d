"""Assembles many requests with one assembler, from columns or from a file of rows."""

from assembler.batch.columns import BatchAssembler, Columns, assemble_batch
from assembler.batch.errors import BatchError
from assembler.batch.rows import OnError, Raise, Record, Skip

__all__ = ["BatchAssembler", "BatchError", "Columns", "OnError", "Raise", "Record", "Skip", "assemble_batch"]
