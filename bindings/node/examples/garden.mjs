// What the examples have in common: a tool whose outputs fill the window, and what a scripted model does next.

export const TASK = 'Check the soil of all beds. Never water the cacti.'
const BEDS = 60

/** Measures the soil of a bed. */
export const soil = ({ bed }) => `bed ${bed}: soil 24 %, light 900 lx, measured at noon by the north wall, between moss and ivy`

/** Returns the bed that the scripted model looks at next; `undefined` if it is done. */
export function nextBed(bedsSeen) {
  const bed = Math.max(-1, ...bedsSeen) + 1
  return bed < BEDS ? bed : undefined
}
