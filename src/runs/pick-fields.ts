/** What a client selected of a record; all of it when nothing was selected. */
export function pickFields<T extends object>(
  record: T,
  select: readonly string[] | null | undefined,
): Partial<T> {
  if (select === null || select === undefined || select.length === 0) return record
  return Object.fromEntries(Object.entries(record).filter(([field]) => select.includes(field))) as Partial<T>
}
