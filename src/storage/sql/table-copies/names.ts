/** Tables that a backup leaves out. Migrations fill `schema_migrations`; the next start fills the others. */
export const LEFT_OUT = ['schema_migrations', 'installation', 'marked_stores', 'servers']

const NAME = /^[a-z_][a-z0-9_]*$/

/**
 * Returns a name of a table or column for use in SQL. Names come from a database or from a checked manifest, and need
 * no quotes.
 */
export function sqlName(name: string): string {
  if (!NAME.test(name)) throw new RangeError(`not the name of a table or column: ${name}`)
  return name
}

export function rowLine(values: readonly unknown[]): string {
  return `${JSON.stringify(values)}\n`
}
