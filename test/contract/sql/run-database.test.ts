import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  connectRunDatabase,
  inSchema,
  openRunDatabase,
} from '../../../src/storage/sql/driver/open-run-database.ts'
import { openSql } from '../../../src/storage/sql/driver/open.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { newFolder } from '../../support/folder.ts'

describe('inSchema', () => {
  it.each([
    ['postgresql://u:p@h/db', 'postgresql://u:p@h/db?options=-c%20search_path%3Ds%20-c%20jit%3Doff'],
    [
      'postgres://h/db?sslmode=require',
      'postgres://h/db?sslmode=require&options=-c%20search_path%3Ds%20-c%20jit%3Doff',
    ],
    [
      'postgres://h/db?options=-c%20a%3D1',
      'postgres://h/db?options=-c%20a%3D1%20-c%20search_path%3Ds%20-c%20jit%3Doff',
    ],
  ])('%s', (url, expected) => {
    expect(inSchema(url, 's')).toBe(expected)
  })
})

describe('openRunDatabase', () => {
  it('opens a file that others can connect to', async () => {
    const dir = await newFolder()
    const place = { url: undefined, file: join(dir, 'runs.db') }
    const first = await openRunDatabase(place)
    const second = connectRunDatabase(place)
    await first.query("INSERT INTO thread_states VALUES ('t', 'd', 'w', '{}')")
    expect(await second.query('SELECT thread_id FROM thread_states')).toEqual([{ thread_id: 't' }])
    await Promise.all([first.close(), second.close()])
  })
})

const reason = withoutPostgres()

describe.skipIf(reason !== '')(`openRunDatabase on Postgres${reason}`, () => {
  it('separates run state from identity in a schema, also when two start at once', async () => {
    const place = { url: await postgresDatabases().take(), file: '' }
    const [identity, ...runs] = await Promise.all([
      openSql(place),
      openRunDatabase(place),
      openRunDatabase(place),
    ])
    const tables = await identity.query<{ schema: string; name: string }>(
      `SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
        WHERE table_name IN ('threads', 'runs', 'checkpoints', 'api_keys') ORDER BY table_schema, table_name`,
    )
    expect(tables.map(({ schema, name }) => `${schema}.${name}`)).toEqual([
      'public.api_keys',
      'weir_runs.checkpoints',
      'weir_runs.runs',
      'weir_runs.threads',
    ])
    expect(await runs[0]?.query('SELECT run_id FROM runs')).toEqual([])
    await Promise.all([identity, ...runs].map((database) => database.close()))
  })
})
