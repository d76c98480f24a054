/** The colour of a series: the index of a group's colour, or a state. */
export type Tone = number | 'ok' | 'error'

/**
 * The highest line of a chart, at or above the value: 1, 2, 4, 6 or 8 times a power of ten. Half of it is a round
 * number too.
 */
export function topOf(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 6, 8].find((step) => step * power >= value) ?? 10) * power
}
