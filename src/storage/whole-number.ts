/**
 * Checks a number on its way to a store. Stores receive whole numbers only (D-67): SQLite compares a fraction and Redis
 * rounds it, while Postgres and ClickHouse refuse the statement. @throws TypeError for a fraction, NaN and Infinity
 */
export function assertWholeNumber(value: number, place: string): void {
  if (!Number.isInteger(value)) throw new TypeError(`${place} is ${value}, but stores receive whole numbers.`)
}
