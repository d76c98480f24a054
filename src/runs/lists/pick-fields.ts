/** The selected fields of a record; all fields when none is selected. */
export function pickFields<T extends object>(
  record: T,
  select: readonly string[] | null | undefined,
): Partial<T> {
  if (select === null || select === undefined || select.length === 0) return record
  return Object.fromEntries(Object.entries(record).filter(([field]) => select.includes(field))) as Partial<T>
}
