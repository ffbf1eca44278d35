"""Install the collections of requirements.yml without Galaxy, out of the PyPI package `ansible`.

    python3 hack/collections_from_pypi.py          (`make collections`, where Galaxy does not answer)

Only their folders are taken out of its wheel, which pip checks by hash; they go to .collections. Where
requirements.yml has a newer version, name the release of `ansible` that contains it, and its hash.
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import yaml

PACKAGE = "ansible==12.3.0"
SHA256 = "cd156f82fa87f7a899212b0efa9f7ca3a24d609212de9f78428a572eb01e5414"
TARGET = Path(".collections")


def main():
    wanted = yaml.safe_load(Path("requirements.yml").read_text())["collections"]
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(downloaded(scratch)) as wheel:
        for each in wanted:
            install(wheel, each["name"], str(each.get("version", "")))


def downloaded(folder):
    requirement = Path(folder, "requirement.txt")
    requirement.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n")
    pip = [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--require-hashes"]
    if subprocess.run([*pip, "--dest", folder, "-r", requirement], check=False).returncode:
        sys.exit(f"error: {PACKAGE} could not be downloaded: pip says why above")
    return next(Path(folder).glob("*.whl"))


def install(wheel, name, version):
    folder = f"ansible_collections/{name.replace('.', '/')}/"
    members = [each for each in wheel.namelist() if each.startswith(folder)]
    if not members:
        sys.exit(f"error: {PACKAGE} does not contain {name}, which requirements.yml lists")
    found = json.loads(wheel.read(f"{folder}MANIFEST.json"))["collection_info"]["version"]
    if version[:1].isdigit() and version != found:
        sys.exit(f"error: {PACKAGE} contains {name} {found}; requirements.yml wants {version}")
    wheel.extractall(TARGET, members)
    print(f"{name} {found} from PyPI package {PACKAGE}, since Galaxy did not answer")


if __name__ == "__main__":
    main()
