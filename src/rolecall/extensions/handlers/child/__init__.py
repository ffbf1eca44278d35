"""The process in which handlers run: plain kopf, with the operator's proxy as its API server.

It imports nothing of the engine, and the engine nothing of it.
"""

import sys

# kopf imports clients of Kubernetes where it finds them, 19 MB; handlers that use one import it.
_CLIENTS = ("kubernetes", "kubernetes_asyncio", "pykube")
_hidden = {name: sys.modules.get(name) for name in _CLIENTS}
sys.modules.update(dict.fromkeys(_CLIENTS))  # type: ignore[arg-type]
import kopf  # noqa: E402, F401 - imported here for that

for name, module in _hidden.items():
    del sys.modules[name]
    if module is not None:
        sys.modules[name] = module
