/** Tables that a backup leaves out: migrations fill `schema_migrations`, and the next start fills the others. */
export const LEFT_OUT = ['schema_migrations', 'installation', 'marked_stores', 'servers']

const NAME = /^[a-z_][a-z0-9_]*$/

/** The name in SQL. It is from a database or a checked manifest; names of Weir's tables need no quotes. */
export function sqlName(name: string): string {
  if (!NAME.test(name)) throw new RangeError(`not the name of a table or column: ${name}`)
  return name
}

/** Converts a row to a line. */
export function rowLine(values: readonly unknown[]): string {
  return `${JSON.stringify(values)}\n`
}
