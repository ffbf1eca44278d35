"""Libraries that are loaded once they are needed: most commands only read a kubeconfig.

Loading them takes longer than all the rest of the room. Rejected: `importlib.util.LazyLoader`, whose
modules may break where two threads use them first, before Python 3.12.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiohttp
    from cryptography import x509
else:

    class _Later:
        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module(self._module), name)
            setattr(self, name, found)  # not asked for again
            return found

    aiohttp, x509 = _Later("aiohttp"), _Later("cryptography.x509")

__all__ = ["aiohttp", "x509"]
