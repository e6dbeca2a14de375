"""What the README says is so."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_its_programs_run(state):
    program = "\n".join(re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL))
    assert program.count("baler.compact(") == 2
    program += "\nprint(result.receipt['strategy'], result.receipt['fell-back'])\n"
    environment = {"BALER_STATE": str(state), "PATH": "/usr/bin:/bin", "HOME": str(state)}
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    first, last = ended.stdout.strip().splitlines()
    assert first.startswith("<baler.Compaction compacted, ") and "Never water the cacti." in first
    assert last == "newest False", ended.stdout


def test_its_pages_exist_and_so_do_their_examples():
    links = [*re.findall(r"\]\((docs/[\w-]+\.md)\)", README.read_text())]
    assert len(links) == 11
    for link in links:
        page = (README.parent / link).read_text()
        for example in re.findall(r"\]\(\.\./(examples/\w+\.py)\)", page):
            assert (README.parent / example).is_file()
