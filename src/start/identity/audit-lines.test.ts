import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { newUuid } from '../../base/ids.ts'
import { migrate } from '../../storage/sql/driver/migrate.ts'
import { openSqlite } from '../../storage/sql/driver/sqlite.ts'
import { createIdentityStore } from '../../storage/sql/identity/identity-store.ts'
import { createSetupTransaction } from '../../storage/sql/setup-stores.ts'
import { testClock } from '../../../test/support/faults/test-clock.ts'
import { withAuditLines } from './audit-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-audit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Line {
  log: string
  action: string
  details: object
}

const linesOf = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

it('TEAM-15: each record of the audit is a line of AUDIT_LOG once it is stored, and none that was rolled back', async () => {
  const path = join(folder, 'audit.log')
  const logged: string[] = []
  const logger = createLogger({ destination: { write: (line) => void logged.push(line) } })
  const database = withAuditLines(openSqlite(':memory:'), path, logger)
  await migrate(database)
  const identity = createIdentityStore(database)
  const organization_id = newUuid()
  await identity.createFirst({
    organization: { id: organization_id, display_name: 'o', created_at: 1 },
    workspace: { id: newUuid(), organization_id, display_name: 'Default', created_at: 1 },
    user: { id: newUuid(), email: 'first@acme.test', full_name: 'First' },
    key: { id: newUuid(), key_hash: 'h', short_key: 's', description: 'd' },
  })
  const actor = { api_key_id: newUuid(), short_key: 's', user_id: null, at: 1 }
  const create = (display_name: string, store = identity): Promise<void> =>
    store.createWorkspace({ id: newUuid(), organization_id, display_name, created_at: 1 }, actor)
  await create('a')
  expect(linesOf(path)).toMatchObject([
    { log: 'audit', action: 'workspace.create', details: { display_name: 'a' } },
  ])

  const inOneTransaction = createSetupTransaction(database, testClock())
  const failing = inOneTransaction(organization_id, async (stores) => {
    await create('b', stores.identity)
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  await inOneTransaction(organization_id, (stores) => create('c', stores.identity))
  expect(linesOf(path).map(({ details }) => details)).toEqual([{ display_name: 'a' }, { display_name: 'c' }])

  // A file that a collector has moved away is made again; one that cannot be made ends nothing.
  renameSync(path, `${path}.1`)
  await create('d')
  expect(linesOf(path)).toHaveLength(1)
  rmSync(folder, { recursive: true })
  await create('e')
  expect(logged.join()).toContain('AUDIT_LOG cannot be written')
  expect(await identity.workspaces(organization_id)).toHaveLength(5)
  await database.close()
})
