#!/bin/sh
# Start set-up with a Python that can read it: sh tools/setup.sh [PYTHON]
# What is set up already stays with its Python unless another is asked for. Which one fits is for
# setup.py to say; here is only what no Python could say: that the one asked for does not start.
asked=${1:-python3}
here=$(dirname "$0")
reads() { "$1" -S -E -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1; }

if [ "$asked" = python3 ] && reads "$here/../.venv/bin/python"; then
  asked="$here/../.venv/bin/python"
fi
if reads "$asked"; then
  exec "$asked" "$here/setup.py"
fi
for python in python3.14 python3.13 python3.12 python3.11 python3 /usr/bin/python3 \
  "$HOME"/.pyenv/versions/*/bin/python3 "$HOME"/.asdf/installs/python/*/bin/python3 \
  "$HOME"/.local/share/mise/installs/python/*/bin/python3 \
  "$HOME"/.local/share/uv/python/*/bin/python3 /opt/homebrew/bin/python3 /opt/*/bin/python3; do
  if reads "$python"; then
    exec "$python" "$here/setup.py" "$asked"
  fi
done
echo "error: no Python was found on PATH, nor where version managers put them" >&2
echo "hint: install Python 3.11 or newer with venv, or name it: make setup PYTHON=/path/to/it" >&2
exit 1
