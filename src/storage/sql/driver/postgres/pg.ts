import { createRequire } from 'node:module'
import type pg from 'pg'

const require = createRequire(import.meta.url)

/** node-postgres. The first call loads it, so that servers, hosts and threads with SQLite do not. */
export function nodePostgres(): typeof pg {
  return require('pg') as typeof pg
}
