"""A copy of the installed ansible-core with one function changed, as a distribution might change it."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

# The last words of `ActionBase._execute_module`, which warm runs do without for most modules.
END = """        display.debug("done with _execute_module (%s, %s)" % (module_name, module_args))
        return data
"""
COMMENT = END.replace("        return", "        # changed\n        return")
SAME = END.replace("return data", "outcome = data\n        return outcome")
OTHER = END.replace("return", "data['patched'] = True\n        return")
GONE = "    def _make_tmp_path(", "    def _make_temporary_path("


def patched_core(folder: Path, found: str, put: str) -> dict[str, str]:
    """The environment in which both ways of a run find the copy."""
    spec = find_spec("ansible")
    assert spec is not None and spec.origin is not None
    copy = folder / "python" / "ansible"
    shutil.copytree(Path(spec.origin).parent, copy, copy_function=os.link)
    patch(folder, found, put)
    return {"PYTHONPATH": str(copy.parent)}


def patch(folder: Path, found: str, put: str) -> None:
    """Change the copy."""
    file = folder / "python" / "ansible" / "plugins" / "action" / "__init__.py"
    text = file.read_text()
    assert text.count(found) == 1, "the text that is changed is no longer there"
    file.unlink()  # it is another name of the installed one
    file.write_text(text.replace(found, put))
