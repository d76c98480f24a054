/** The row `by` places further in a list of `count` rows; from no row (-1), the first one. */
export function placeAfter(place: number, by: number, count: number): number {
  return Math.max(0, Math.min(place + by, count - 1))
}
