import { createRequire } from 'node:module'
import type pg from 'pg'

const require = createRequire(import.meta.url)

/** Returns node-postgres. The first call loads it, so that processes and threads with SQLite never load it. */
export function nodePostgres(): typeof pg {
  return require('pg') as typeof pg
}
