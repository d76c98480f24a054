import { randomBytes } from 'node:crypto'
import type { Database } from '../driver/database.ts'

/**
 * Returns a function that reads the secret with this name: 64 hex digits, the same for all servers of the database. The
 * first read creates the secret.
 */
export function serverSecret(database: Database, name: string): () => Promise<string> {
  let known: string | undefined
  const read = async (): Promise<string | undefined> => {
    const rows = await database.query<{ secret: string }>(
      'SELECT secret FROM server_secrets WHERE name = ?',
      [name],
    )
    return rows[0]?.secret
  }
  return async () => {
    known ??= await read()
    if (known !== undefined) return known
    const made = randomBytes(32).toString('hex')
    await database.query(
      'INSERT INTO server_secrets (name, secret) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
      [name, made],
    )
    known = (await read()) ?? made
    return known
  }
}
