"""Manifests: the decision about a request as data without text, to reproduce the request from."""

from assembler.report.manifest.errors import Difference, ManifestError, ReplayError
from assembler.report.manifest.writing import FORMAT, gathered_of, manifest_of

__all__ = ["FORMAT", "Difference", "ManifestError", "ReplayError", "gathered_of", "manifest_of"]
