/** Number of names for which a result is kept. Names come from clients. */
const MOST_NAMES = 4000
const LONGEST_NAME = 80

/** Keeps what was found out about a name. A full map is emptied: the names that are in use come back at once. */
export function remember<T>(known: Map<string, T>, name: string, value: T): T {
  if (name.length > LONGEST_NAME) return value
  if (known.size >= MOST_NAMES) known.clear()
  known.set(name, value)
  return value
}
