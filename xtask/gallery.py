#!/usr/bin/env python3
"""Writes docs/gallery.md from what the gallery's strategies say, and from what was measured.

    cargo xtask gallery --components FOLDER
    cargo xtask gallery [RECORDINGS] [--set NAME…] [--on TEXT] [--originals FILE.md…]

The first writes each strategy as FOLDER/NAME.wasm and does nothing else. The second replaces in the page what stands
between `<!-- gallery.py: NAME -->` and `<!-- gallery.py: end -->`. Without RECORDINGS, the tables at equal size stay as
they are, and without `--originals` those of the originals; these files are what `cargo xtask originals` and
`benches/peers/originals_with_model.py` print.

BALER_PROGRAM names the program; without it, Cargo builds it. Needs Python 3.9, and Rust with the
target wasm32-unknown-unknown.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import fidelity
from fidelity import Wrong, percent, plain, replaced, table

ROOT = Path(__file__).parent.parent
GALLERY = ROOT / "guest-strategies" / "gallery"
DOCUMENT = ROOT / "docs" / "gallery.md"
#: Sessions by somebody who had seen no strategy.
WORDING = "tests/generated/wording/episodes/held-out.json"

#: Those that ship with baler and ask no model.
SHIPPED = ["tiered", "sliding-window", "mask-tool-outputs", "coalesce", "trim"]
BUDGETS = ["10%", "25%"]
FIGURES = [
    ("in-context", "in context"),
    ("recall", "recall"),
    ("instructions", "user's instructions"),
    ("last-error", "last error"),
    ("size", "size"),
]


class Documented:
    """A strategy's name, and what its module's documentation says."""

    def __init__(self, folder):
        self.name = folder.name
        path = folder / "src" / "lib.rs"
        lines = path.read_text(encoding="utf-8").splitlines()
        lines = [line[3:].removeprefix(" ") for line in lines[: first_without(lines, "//!")]]
        self.paragraphs = "\n".join(lines).strip().split("\n\n")
        source = re.search(r"\*\*Source\*\*: ([^,]+),", " ".join(lines))
        if source is None or not any(one.startswith("**Here it differs**:") for one in self.paragraphs):
            raise Wrong(
                f"`{path}`: its documentation has to have the paragraphs `**Source**: PROJECT AND VERSION, …` "
                "and `**Here it differs**: …`; add them"
            )
        self.after = source[1]

    def section(self):
        # Links that only rustdoc can resolve become plain text.
        text = re.sub(r"\[(`[^`]+`)\](?!\()", r"\1", "\n\n".join(self.paragraphs))
        return f"### {self.name}\n\n{text}"


def first_without(lines, start):
    return next((at for at, line in enumerate(lines) if not line.startswith(start)), len(lines))


def all_documented():
    # The other folders hold code that the components share.
    manifests = sorted(GALLERY.glob("*/Cargo.toml"))
    return [Documented(one.parent) for one in manifests if '"cdylib"' in one.read_text(encoding="utf-8")]


class Program:
    """The program `baler`, with a state folder of its own."""

    def __init__(self, scratch):
        self.path = os.environ.get("BALER_PROGRAM")
        self.state = ["--state", str(scratch / "state"), "--project", "off"]
        if self.path is None:
            run(["cargo", "build", "--locked", "--release", "--package", "baler"])
            self.path = str(target() / "release" / "baler")

    def run(self, *arguments, ends=(0,)):
        return run([self.path, *map(str, arguments)], ends)

    def json(self, command, *arguments, ends=(0,)):
        return json.loads(self.run(command, *arguments, "--json", *self.state, ends=ends))

    def eval(self, recordings, file, *more):
        self.run("eval", recordings, "--json", file, "--markdown", file.with_suffix(".md"), *more, *self.state)
        return fidelity.Evaluation(file)


def run(command, ends=(0,)):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in ends:
        raise Wrong(f"`{' '.join(command)}` ended with {done.returncode}; see above")
    return done.stdout


def target():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def write_components(program, names, folder):
    folder.mkdir(parents=True, exist_ok=True)
    packages = [f"--package={name}" for name in names]
    run(["cargo", "build", "--locked", "--profile", "component", "--target", "wasm32-unknown-unknown", *packages])
    for name in names:
        module = target() / "wasm32-unknown-unknown" / "component" / f"{name.replace('-', '_')}.wasm"
        program.run("wrap", module, "--output", folder / f"{name}.wasm", "--quiet")


# The table of all.


def asks_model(component):
    return "model" in component["permissions"]


def tested(result):
    found = [finding["severity"] for check in result["checks"] for finding in check["findings"]]
    errors, warnings = found.count("error"), found.count("warning")
    if errors:
        return f"**{errors} errors**"
    return f"passed, {warnings} warning{'s' * (warnings != 1)}" if warnings else "passed"


def at_thousand(sizes):
    """The conversation whose number of units is closest to 1,000."""
    return min(sizes, key=lambda one: abs(one["units"] - 1000))


def costs(sizes):
    """Time and fuel there."""
    size = at_thousand(sizes)
    if size["ended"] != "accepted":
        return ["–", "–"]
    return [f"{size['time-us'] / 1000:.1f}", f"{size['fuel'] / 1e6:,.1f}"]


def all_strategies(program, documented, components, machine):
    rows, warnings, with_model = [], {}, set()
    for own in documented:
        file = components / f"{own.name}.wasm"
        shown, result = program.json("introspect", file), program.json("test", file, ends=(0, 3))
        if asks_model(shown["component"]):
            with_model.add(own.name)
        rows.append(
            [
                f"[{own.name}](#{own.name})",
                fidelity.cell(shown["claims"]["description"]),
                own.after,
                "yes" if own.name in with_model else "no",
                f"{shown['component']['bytes'] // 1000}",
                *costs(result["sizes"]),
                tested(result),
            ]
        )
        for finding in (finding for check in result["checks"] for finding in check["findings"]):
            warnings.setdefault(finding["problem"], {})[own.name] = None
    for one in program.json("bench")["strategies"]:
        name, kilobytes = one["strategy"], f"{one['bytes'] // 1000}"
        does = fidelity.cell(program.json("introspect", name)["claims"]["description"])
        rows.append([name, does, "ships with baler", "no", kilobytes, *costs(one["sizes"]), ""])
    size = at_thousand(result["sizes"])
    told = f"*ms* and *million fuel*: {size['units']:,} units, {size['tokens']:,} tokens; times of one run on {machine}."
    head = ["strategy", "what it does", "written after", "asks a model", "kB", "ms", "million fuel", "`baler test`"]
    parts = [table(head, rows), told]
    if warnings:
        lines = [f"- {', '.join(names)}: {problem}" for problem, names in warnings.items()]
        parts.append("What `baler test` warns of:\n\n" + "\n".join(lines))
    return parts, with_model


# The tables at equal size.


def write_episodes(folder):
    run(["cargo", "run", "--quiet", "--locked", "--package", "baler-generated", "--bin", "episodes", "--", WORDING, str(folder)])


def at_equal_size(episodes, recordings, ours):
    parts = [
        f"What must still be known (*needs*): {counted(episodes)} of generated sessions.",
        "All else:\n\n" + fidelity.rests_on(recordings),
    ]
    for budget in recordings.budgets:
        rows = []
        for strategy in recordings.strategies:
            own = [row for one in (episodes, recordings) for _, row in one.rows(strategy, budget)]
            name = f"[{strategy}](#{strategy})" if strategy in ours else strategy
            figures = [plain(recordings.figure(budget, strategy, figure)) for figure, _ in FIGURES]
            counts = [str(sum(row["measured"][count] for row in own)) for count in ("is-invalid", "is-over")]
            needs = episodes.figure(budget, strategy, "needs")
            rows.append((needs or 0, [name, plain(needs), *figures, *counts, fidelity.fell_back(own)]))
        head = ["strategy", "needs", *(name for _, name in FIGURES), "invalid", "over", "fell back"]
        parts += [
            f"### At {percent(budget)} of the history",
            table(head, [cells for _, cells in sorted(rows, key=lambda row: -row[0])]),
            f"Each row: {len(own)} results.",
        ]
    return parts


def counted(evaluation):
    own = [one for one in evaluation.results if one["rows"]]
    return f"{len(own)} conversations"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recordings", nargs="?", type=Path, help="a folder as for `baler eval`")
    parser.add_argument("--set", action="append", default=[], help="only this set of it; may be given several times")
    parser.add_argument("--on", default="this machine", help="on what times were measured, as the page says it")
    parser.add_argument("--originals", type=Path, nargs="+", default=[], help="what the comparisons printed")
    parser.add_argument("--components", type=Path, help="only write the components to this folder")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            write_all(arguments, Path(scratch))
    except Wrong as wrong:
        sys.exit(f"error: {wrong}")


def write_all(arguments, scratch):
    documented = all_documented()
    names = [own.name for own in documented]
    program = Program(scratch)
    components = (arguments.components or scratch / "components").absolute()
    write_components(program, names, components)
    if arguments.components:
        return
    strategies, with_model = all_strategies(program, documented, components, arguments.on)
    parts = {
        "strategies": strategies,
        "each": [own.section() for own in documented],
    }
    if arguments.recordings:
        ours = [name for name in names if name not in with_model]
        asked = [word for name in [*SHIPPED, *(components / f"{one}.wasm" for one in ours)] for word in ("--strategy", name)]
        asked += [word for budget in BUDGETS for word in ("--budget", budget)]
        sets = [word for name in arguments.set for word in ("--set", name)]
        write_episodes(scratch / "episodes")
        episodes = program.eval(scratch / "episodes", scratch / "episodes.json", *asked)
        recordings = program.eval(arguments.recordings.absolute(), scratch / "recordings.json", *asked, *sets)
        parts["equal-size"] = at_equal_size(episodes, recordings, ours)
    if arguments.originals:
        parts["originals"] = [file.read_text(encoding="utf-8").strip() for file in arguments.originals]
    document = DOCUMENT.read_text(encoding="utf-8")
    for name, texts in parts.items():
        document = replaced(DOCUMENT, document, f"gallery.py: {name}", "\n\n".join(texts))
    fidelity.write(DOCUMENT, document)


if __name__ == "__main__":
    main()
