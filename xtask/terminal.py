#!/usr/bin/env python3
"""Runs a command in a pseudo-terminal and writes its output as an SVG picture of a terminal.

    cargo xtask terminal --output docs/terminal.svg -- \\
        baler compact examples/conversations/fix-a-bug.openai.json --budget 25% --output smaller.json

The picture shows what the command prints to its terminal, in its colours; the title bar shows the command. The home
directory is shown as `~`. The same output always gives the same picture. Needs Python 3.9 on a Unix system and nothing
else.
"""

import argparse
import fcntl
import os
import pty
import re
import shlex
import struct
import sys
import termios
import unicodedata
from typing import NamedTuple, Optional
from xml.sax.saxutils import escape

# Sizes in pixels.
FONT_SIZE = 14
CELL_WIDTH = 8.5
LINE_HEIGHT = 20
TITLE_HEIGHT = 36
TITLE_FONT_SIZE = 12
TITLE_CELL_WIDTH = 7.2
PADDING = 16
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"

# A longer command is cut in the title bar, in characters.
MAX_TITLE = 120

# The window. Its border separates it from dark pages.
BACKGROUND = "#161b22"
TITLE_BACKGROUND = "#21262d"
BORDER = "#3d444d"
FOREGROUND = "#e6edf3"
TITLE_FOREGROUND = "#9da7b3"
BUTTONS = ["#ff5f57", "#febc2e", "#28c840"]

# ANSI colours 0 to 15: black, red, green, yellow, blue, magenta, cyan, white, and the bright ones. All of them but
# the two blacks can be read on BACKGROUND.
PALETTE = [
    "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
    "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
]  # fmt: skip

# How much of its colour dim text has; the rest is the background's.
DIM = 0.6

# What a terminal acts on: CSI (`ESC [`), OSC and other strings, character sets, all other escapes, control characters.
CONTROL = re.compile(
    r"\x1b\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\)"
    r"|\x1b[ -/]+[0-~]"
    r"|\x1b."
    r"|(?P<control>[\x00-\x1f\x7f])",
    re.DOTALL,
)


class Style(NamedTuple):
    """How a cell looks. Colours are `#rrggbb`, or None for the default."""

    foreground: Optional[str] = None
    background: Optional[str] = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False
    hidden: bool = False
    strike: bool = False


class Cell(NamedTuple):
    """A character with its combining marks. The second cell of a wide character has an empty text."""

    text: str
    style: Style


BLANK = Cell(" ", Style())


def colour(number):
    """Returns a colour of the 256-colour table: 16 named ones, a cube of 6 x 6 x 6, and 24 greys."""
    if number < 16:
        return PALETTE[number]
    if number < 232:
        levels = [0, 95, 135, 175, 215, 255]
        red, rest = divmod(number - 16, 36)
        green, blue = divmod(rest, 6)
        return "#%02x%02x%02x" % (levels[red], levels[green], levels[blue])
    return "#" + "%02x" % (8 + 10 * (number - 232)) * 3


def blend(front, back, share):
    """Returns the colour between two colours that has this share of the first one."""
    pairs = [(int(front[at : at + 2], 16), int(back[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join("%02x" % round(share * one + (1 - share) * other) for one, other in pairs)


def extended_colour(codes):
    """Takes the codes behind 38 or 48 (`5;N` or `2;R;G;B`) from the list, and returns their colour."""
    kind = codes.pop(0) if codes else 0
    if kind == 5 and codes:
        return colour(min(codes.pop(0), 255))
    if kind == 2 and len(codes) >= 3:
        return "#%02x%02x%02x" % tuple(min(codes.pop(0), 255) for _ in range(3))
    return None


def restyled(style, parameters):
    """Returns a style after an SGR sequence (`ESC [ parameters m`). Unknown codes change nothing."""
    switches = {
        1: {"bold": True}, 2: {"dim": True}, 3: {"italic": True}, 4: {"underline": True}, 7: {"inverse": True},
        8: {"hidden": True}, 9: {"strike": True}, 21: {"underline": True}, 22: {"bold": False, "dim": False},
        23: {"italic": False}, 24: {"underline": False}, 27: {"inverse": False}, 28: {"hidden": False},
        29: {"strike": False}, 39: {"foreground": None}, 49: {"background": None},
    }  # fmt: skip
    # `38:2::R:G:B` has a colour space between its colons; `38;2;R;G;B` has none.
    parameters = re.sub(r"([34]8:2):\d*:(\d+:\d+:\d+)", r"\1:\2", parameters)
    codes = [int(code) if code.isdigit() else 0 for code in re.split("[;:]", parameters)]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = Style()
        elif code in switches:
            style = style._replace(**switches[code])
        elif code in (38, 48):
            name = "foreground" if code == 38 else "background"
            style = style._replace(**{name: extended_colour(codes)})
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = style._replace(foreground=colour(code - 30 if code < 90 else code - 82))
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style = style._replace(background=colour(code - 40 if code < 100 else code - 92))
    return style


class Screen:
    """A terminal of a fixed width and as many rows as are written. It never scrolls."""

    def __init__(self, columns):
        self.columns = columns
        self.rows = [[]]
        self.row = 0
        self.column = 0
        self.style = Style()

    def feed(self, output):
        """Writes a text with its escape sequences."""
        start = 0
        for found in CONTROL.finditer(output):
            self.write(output[start : found.start()])
            start = found.end()
            if found["final"]:
                self.sequence(found["parameters"], found["final"])
            elif found["control"]:
                self.control(found["control"])
        self.write(output[start:])

    def write(self, text):
        for character in text:
            if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
                self.combine(character)
                continue
            width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            if self.column + width > self.columns:
                self.go(self.row + 1, 0)
            self.put(character)
            if width == 2:
                self.put("")

    def put(self, text):
        row = self.rows[self.row]
        row.extend([BLANK] * (self.column + 1 - len(row)))
        row[self.column] = Cell(text, self.style)
        self.column += 1

    def combine(self, mark):
        """Adds a mark without a width of its own to the character before it."""
        row = self.rows[self.row]
        for at in range(min(self.column, len(row)) - 1, -1, -1):
            if row[at].text:
                row[at] = row[at]._replace(text=row[at].text + mark)
                return

    def control(self, character):
        if character == "\n":
            self.go(self.row + 1, self.column)
        elif character == "\r":
            self.column = 0
        elif character == "\b":
            self.column = max(self.column - 1, 0)
        elif character == "\t":
            self.column = min(self.column // 8 * 8 + 8, self.columns - 1)

    def sequence(self, parameters, final):
        if final == "m":
            self.style = restyled(self.style, parameters)
            return
        numbers = [int(number) if number.isdigit() else 0 for number in parameters.split(";")]
        steps = max(numbers[0], 1)
        if final in "AF":
            self.go(self.row - steps, 0 if final == "F" else self.column)
        elif final in "BE":
            self.go(self.row + steps, 0 if final == "E" else self.column)
        elif final in "CD":
            self.go(self.row, self.column + (steps if final == "C" else -steps))
        elif final == "G":
            self.go(self.row, steps - 1)
        elif final in "Hf":
            self.go(steps - 1, (max(numbers[1], 1) if len(numbers) > 1 else 1) - 1)
        elif final in "JK":
            self.erase(numbers[0], whole_screen=final == "J")

    def go(self, row, column):
        self.row = max(row, 0)
        self.column = min(max(column, 0), self.columns - 1)
        while len(self.rows) <= self.row:
            self.rows.append([])

    def erase(self, part, whole_screen):
        """Erases from the cursor to the end (0), from the beginning to the cursor (1), or all (2, 3)."""
        row = self.rows[self.row]
        if part == 0:
            del row[self.column :]
        elif part == 1:
            row[: self.column + 1] = [BLANK] * min(self.column + 1, len(row))
        else:
            row.clear()
        if whole_screen:
            first = self.row + 1 if part == 0 else 0
            last = self.row if part == 1 else len(self.rows)
            for other in self.rows[first:last]:
                if other is not row:
                    other.clear()

    def lines(self):
        """Returns the rows without blank cells at their ends, and without blank rows around them."""
        rows = []
        for row in self.rows:
            end = len(row)
            while end and row[end - 1].text == " " and not is_visible(row[end - 1].style):
                end -= 1
            rows.append(row[:end])
        while rows and not rows[-1]:
            rows.pop()
        while rows and not rows[0]:
            rows.pop(0)
        return rows


def is_visible(style):
    """Whether a blank in this style can be seen."""
    return bool(style.background or style.inverse or style.underline or style.strike)


def colours(style):
    """Returns the colours of a style as it is shown: that of the text, and that behind it or None."""
    front, back = style.foreground or FOREGROUND, style.background
    if style.inverse:
        front, back = back or BACKGROUND, front
    if style.dim:
        front = blend(front, back or BACKGROUND, DIM)
    if style.hidden:
        front = back or BACKGROUND
    return front, back


def runs(row):
    """Yields the runs of cells of one style: their column, their number, their text and their style."""
    start = 0
    for at in range(1, len(row) + 1):
        if at == len(row) or row[at].style != row[start].style:
            yield start, at - start, "".join(cell.text for cell in row[start:at]), row[start].style
            start = at


def number(value):
    """Writes a number of pixels with at most one decimal."""
    return ("%.1f" % value).removesuffix(".0")


def drawn_row(row, top):
    """Returns the elements of one row, of which `top` is the upper edge: backgrounds, then texts."""
    behind, texts = [], []
    baseline = number(top + LINE_HEIGHT * 0.72)
    for column, cells, text, style in runs(row):
        left, width = PADDING + column * CELL_WIDTH, cells * CELL_WIDTH
        front, back = colours(style)
        if back:
            place = f'x="{number(left)}" y="{number(top)}" width="{number(width)}" height="{LINE_HEIGHT}"'
            behind.append(f'<rect {place} fill="{back}"/>')
        if not text.strip() and not (style.underline or style.strike):
            continue
        # Each run has a place and a length, so columns align in every font. A tspan has no length in some browsers.
        attributes = f'x="{number(left)}" y="{baseline}" textLength="{number(width)}"'
        if front != FOREGROUND:
            attributes += f' fill="{front}"'
        if style.bold:
            attributes += ' font-weight="bold"'
        if style.italic:
            attributes += ' font-style="italic"'
        lines = [name for name, on in (("underline", style.underline), ("line-through", style.strike)) if on]
        if lines:
            attributes += f' text-decoration="{" ".join(lines)}"'
        # Browsers collapse other spaces, and do not agree on what forbids it.
        shown = escape(text).replace(" ", "\u00a0")
        texts.append(f"<text {attributes}>{shown}</text>")
    return behind + texts


def picture(rows, command):
    """Returns the SVG of a window with these rows of cells, and with the command in its title bar."""
    title = command if len(command) <= MAX_TITLE else command[: MAX_TITLE - 1] + "…"
    title_left, title_width = PADDING + 3 * 20 + 12, len(title) * TITLE_CELL_WIDTH
    columns = max([len(row) for row in rows] + [60])
    width = max(2 * PADDING + columns * CELL_WIDTH, title_left + title_width + PADDING)
    height = TITLE_HEIGHT + 2 * PADDING + len(rows) * LINE_HEIGHT
    middle = TITLE_HEIGHT / 2
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}"'
        f' viewBox="0 0 {number(width)} {number(height)}" role="img">',
        f"<title>{escape(command)}</title>",
        f'<rect x="0.5" y="0.5" width="{number(width - 1)}" height="{number(height - 1)}" rx="10"'
        f' fill="{BACKGROUND}" stroke="{BORDER}"/>',
        f'<path d="M1 {TITLE_HEIGHT}V10.5A9.5 9.5 0 0 1 10.5 1H{number(width - 10.5)}'
        f'A9.5 9.5 0 0 1 {number(width - 1)} 10.5V{TITLE_HEIGHT}Z" fill="{TITLE_BACKGROUND}"/>',
    ]
    for index, fill in enumerate(BUTTONS):
        lines.append(f'<circle cx="{PADDING + 6 + 20 * index}" cy="{number(middle)}" r="6" fill="{fill}"/>')
    lines += [
        f'<g font-family="{FONTS}" font-size="{FONT_SIZE}" fill="{FOREGROUND}">',
        f'<text x="{title_left}" y="{number(middle + 4)}" font-size="{TITLE_FONT_SIZE}" fill="{TITLE_FOREGROUND}"'
        f' textLength="{number(title_width)}">{escape(title)}</text>',
    ]
    for index, row in enumerate(rows):
        lines += drawn_row(row, TITLE_HEIGHT + PADDING + index * LINE_HEIGHT)
    lines += ["</g>", "</svg>"]
    return "\n".join(lines) + "\n"


def run(command, columns):
    """Runs a command in a pseudo-terminal and returns its output and exit code (127: not found)."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        for name in ("NO_COLOR", "COLUMNS", "LINES", "COLORTERM"):
            os.environ.pop(name, None)
        os.environ["TERM"] = "xterm-256color"
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
            os._exit(127)
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux reports EIO once the command has closed the terminal.
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
    return b"".join(pieces).decode("utf-8", "replace"), code


def without_home(text):
    """Shows the home directory as `~`, as a shell does. A picture must not name the machine of its maker."""
    home = os.environ.get("HOME", "").rstrip("/")
    return re.sub(re.escape(home) + r"(?![\w.-])", "~", text) if home else text


def main():
    parser = argparse.ArgumentParser(description="Writes an SVG picture of what a command prints to its terminal.")
    parser.add_argument("--output", required=True, help="the SVG file")
    parser.add_argument("--columns", type=int, default=120, help="width of the terminal [default: 120]")
    parser.add_argument("--exit-code", type=int, default=0, help="the exit code that is expected [default: 0]")
    parser.add_argument("command", nargs="+", help="the command and its arguments, after `--`")
    arguments = parser.parse_args()
    if not 20 <= arguments.columns <= 1000:
        parser.error(f"--columns: expected 20 to 1000: {arguments.columns}")

    output, code = run(arguments.command, arguments.columns)
    if code != arguments.exit_code:
        sys.stderr.write(output)
        sys.exit(f"no picture written: expected exit code {arguments.exit_code}: {code}")
    screen = Screen(arguments.columns)
    screen.feed(without_home(output))
    svg = picture(screen.lines(), without_home(shlex.join(arguments.command)))
    with open(arguments.output, "w", encoding="utf-8", newline="\n") as file:
        file.write(svg)


if __name__ == "__main__":
    main()
