/** The colour of a series: the index of a group's colour, or a state. */
export type Tone = number | 'ok' | 'error'

/** Steps between powers of ten whose halves are round numbers too; for small counts, only whole ones. */
const STEPS = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 5, 6, 8]
const WHOLE_STEPS = [1, 2, 4, 6, 8]

/** The highest line of a chart: the first step at or above the value. */
export function topOf(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ((power === 1 ? WHOLE_STEPS : STEPS).find((step) => step * power >= value) ?? 10) * power
}
