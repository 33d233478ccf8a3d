"""Tells griffe, which builds the site without imports, that a package has the public names of its stub."""

from __future__ import annotations

from typing import Any

import griffe

from tools.reference import exported


class PublicNames(griffe.Extension):
    """Gives each module with a stub the names in it, including those of `from TABLE import *`."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Add the names after griffe has read a package."""
        _take(pkg)


def _take(module: griffe.Module) -> None:
    homes = exported(module.path)
    if homes:
        module.exports = [*homes]
    for name, home in homes.items():
        if name not in module.members:
            module.set_member(name, griffe.Alias(name, f"{home}.{name}", parent=module))
    for member in [*module.members.values()]:
        if isinstance(member, griffe.Module):
            _take(member)
