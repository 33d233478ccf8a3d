"""Each folder needs its framework, which `make test-integrations` installs: where it is absent, none is collected."""

from __future__ import annotations

from tests.integrations.frameworks import frameworks, is_installed

collect_ignore = [name for name in frameworks() if not is_installed(name)]
