"""What the examples have in common: a tool whose outputs fill the window, and what a scripted model says next."""

TASK = "Check the soil of all beds. Never water the cacti."
BEDS = 60


def soil(bed: int) -> str:
    """Measures the soil of a bed."""
    return f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, between moss and ivy"


def next_bed(beds_seen: list[int]) -> int | None:
    """Returns the bed that the scripted model looks at next; `None` if it is done."""
    bed = max(beds_seen, default=-1) + 1
    return bed if bed < BEDS else None
