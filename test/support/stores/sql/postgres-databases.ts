import { openPostgres } from '../../../../src/storage/sql/driver/postgres.ts'
import { shared } from '../../servers/shared.ts'

/** Databases of the Postgres that all test files share. */
export interface PostgresDatabases {
  /** The URL of an empty database for exclusive use. */
  take(): Promise<string>
  /** Returns a database for reuse. It is emptied, which costs a tenth of creating a new one. */
  giveBack(url: string): void
}

const EMPTY = `DO $$ DECLARE name TEXT; BEGIN
  FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$)' LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', name);
  END LOOP;
  CREATE SCHEMA public;
END $$`

async function emptied(url: string): Promise<string> {
  const database = openPostgres(url)
  await database.query(EMPTY)
  await database.close()
  return url
}

/** Databases for a test file. */
export function postgresDatabases(): PostgresDatabases {
  const free: string[] = []
  return {
    async take() {
      const url = free.pop()
      return await (url === undefined ? (await shared('/postgres')).url : emptied(url))
    },
    giveBack: (url) => void free.push(url),
  }
}
