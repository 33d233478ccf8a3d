from assembler.batch.columns import BatchAssembler as BatchAssembler
from assembler.batch.columns import Columns as Columns
from assembler.batch.columns import assemble_batch as assemble_batch
from assembler.batch.errors import BatchError as BatchError
from assembler.batch.rows import OnError as OnError
from assembler.batch.rows import Raise as Raise
from assembler.batch.rows import Record as Record
from assembler.batch.rows import Skip as Skip
