"""What was decided about one request, as data without text, and the same request made again from it."""

from assembler.report.manifest.errors import Difference, ManifestError, ReplayError
from assembler.report.manifest.writing import FORMAT, gathered_of, manifest_of

__all__ = ["FORMAT", "Difference", "ManifestError", "ReplayError", "gathered_of", "manifest_of"]
