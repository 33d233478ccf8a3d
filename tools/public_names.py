"""Tells griffe, which builds the site without imports, which names are public.

They are those of a package's stub, and the members of its classes but those whose docstrings say that they are private.
"""

from __future__ import annotations

from typing import Any

import griffe

from tools.reference import exported


class PublicNames(griffe.Extension):
    """Gives each module with a stub the names in it, and takes from each class what is private to this library."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Set the names after griffe has read a package."""
        _name_public(pkg)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Remove the members of a class whose docstrings say that they are private."""
        for name, member in [*cls.members.items()]:
            if member.docstring and "Private to this library." in member.docstring.value:
                cls.del_member(name)


def _name_public(module: griffe.Module) -> None:
    homes = exported(module.path)  # including those of `from TABLE import *`
    if homes:
        module.exports = [*homes]
    for name, home in homes.items():
        if name not in module.members:
            module.set_member(name, griffe.Alias(name, f"{home}.{name}", parent=module))
    for member in [*module.members.values()]:
        if isinstance(member, griffe.Module):
            _name_public(member)
