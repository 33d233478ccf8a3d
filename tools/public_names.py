"""For the builder of the site (griffe), which imports nothing: the public names of a package are those of its stub."""

from __future__ import annotations

from typing import Any

import griffe

from tools.reference import exported


class PublicNames(griffe.Extension):
    """Gives each module that has a stub the names of it, those of the tables that it takes whole among them."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called once a package is read."""
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
