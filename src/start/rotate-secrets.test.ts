import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { newUuid } from '../base/ids.ts'
import { createSealer } from '../base/node/sealer.ts'
import { readConfig } from '../config.ts'
import { tokensPlace } from '../identity/oidc/confirm.ts'
import { openSecrets, replacedSecrets } from '../deploy/secrets/deployment-secrets.ts'
import { createWorkspaceSecrets } from '../playground/secrets.ts'
import { createDeploymentStore } from '../storage/sql/deployments/deployment-store.ts'
import type { Database } from '../storage/sql/driver/database.ts'
import { migrate } from '../storage/sql/driver/migrate.ts'
import { openSqlite } from '../storage/sql/driver/sqlite.ts'
import { createIdentityStore } from '../storage/sql/identity/identity-store.ts'
import { createWorkspaceSecretStore } from '../storage/sql/secrets/workspace-secret-store.ts'
import { FIRST } from '../../test/support/stores/sql/identity-records.ts'
import { rotateSecrets } from './rotate-secrets.ts'
import { keysIn, openSealer } from '../hosting/secrets-key.ts'
import { newFolder } from '../../test/support/folder.ts'

const WORKSPACE = newUuid()
const COUNT = 40
const SETTLE_MS = 5

/** A running server with secrets of a workspace and of a deployment. */
async function openServer(env: Record<string, string> = {}) {
  const dataDir = await newFolder()
  const database = openSqlite(':memory:')
  onTestFinished(async () => {
    await database.close()
  })
  await migrate(database)
  await createIdentityStore(database).createFirst(FIRST)
  const config = readConfig({ DATA_DIR: dataDir, ...env })
  const sealer = await openSealer(config)
  const secrets = createWorkspaceSecrets({
    store: createWorkspaceSecretStore(database, systemClock),
    sealer: async () => sealer,
    usualHosts: new Map(),
  })
  const write = (key: string, value: string) =>
    secrets.write(WORKSPACE, [{ key, value, hosts: ['a.example'] }])
  for (let n = 0; n < COUNT; n++) await write(`KEY_${n}`, `value ${n}`)
  const deployments = createDeploymentStore(database, systemClock)
  const id = newUuid()
  const sent = [
    { name: 'A', value: 'one' },
    { name: 'B', value: 'two' },
  ]
  await deployments.create({
    id,
    organization_id: newUuid(),
    workspace_id: WORKSPACE,
    name: 'mine',
    type: 'dev',
    commands: {},
    secrets: replacedSecrets({ id, secrets: [] }, sent, { sealer, now: 1 }),
  } as never)
  await database.query(
    `INSERT INTO member_sessions (id, secret_hash, organization_id, user_id, provider, tokens, checked_at, created_at,
       last_used_at, expires_at) SELECT 's', 'h', 'o1', 'u1', 'p', ?, 1, 1, 1, 1`,
    [sealer.seal(tokensPlace('s'), 'tokens')],
  )
  const expectReadable = async (): Promise<void> => {
    const [session] = await database.query<{ tokens: string }>('SELECT tokens FROM member_sessions')
    expect(sealer.open(tokensPlace('s'), session!.tokens)).toBe('tokens')
    for (let n = 0; n < COUNT; n++)
      expect(await secrets.valueFor(WORKSPACE, `KEY_${n}`, 'a.example')).toBe(`value ${n}`)
    const [{ secrets: text } = { secrets: '[]' }] = await database.query<{ secrets: string }>(
      'SELECT secrets FROM deployments',
    )
    expect(openSecrets({ id, secrets: JSON.parse(text) }, sealer)).toEqual(sent)
  }
  return { database, config, dataDir, write, expectReadable }
}

/** Number of secrets of workspaces that the key decrypts. */
async function openedBy(database: Database, key: string): Promise<number> {
  const rows = await database.query<{ key: string; sealed: string }>(
    'SELECT key, sealed FROM workspace_secrets',
  )
  const sealer = createSealer(key)
  return rows.filter(({ key: name, sealed }) => {
    try {
      return sealer.open(`workspace/${WORKSPACE}/${name}`, sealed) !== ''
    } catch {
      return false
    }
  }).length
}

/** A database that fails after some changes, as when the process is killed. */
function failingAfter(database: Database, changes: number): Database {
  let left = changes
  return {
    ...database,
    async query(sql, params) {
      if (sql.startsWith('UPDATE') && left-- === 0) throw new Error('killed')
      return (await database.query(sql, params)) as never
    },
  }
}

it('replaces the key of DATA_DIR while the server runs, also after an interruption', async () => {
  const { database, config, dataDir, write, expectReadable } = await openServer()
  const file = join(dataDir, 'secrets-key')
  const [old] = keysIn(await readFile(file, 'utf8'))
  await expect(rotateSecrets(config, failingAfter(database, 7), SETTLE_MS)).rejects.toThrow('killed')
  expect(await openedBy(database, old)).toBe(COUNT - 7)
  await expectReadable()
  await write('KEY_1', 'value 1')
  const { records } = await rotateSecrets(config, database, SETTLE_MS)
  expect(records).toBeGreaterThan(COUNT - 9)
  await expectReadable()
  const keys = keysIn(await readFile(file, 'utf8'))
  expect(keys).toHaveLength(1)
  expect(await openedBy(database, old)).toBe(0)
  expect(await openedBy(database, keys[0])).toBe(COUNT)
  await expectReadable()
  await write('KEY_2', 'value 2')
  await expectReadable()
})

it('encrypts with SECRETS_KEY what SECRETS_KEY_PREVIOUS decrypts', async () => {
  const [old, next] = ['o'.repeat(32), 'n'.repeat(32)]
  const { database, config, dataDir } = await openServer({ SECRETS_KEY: old })
  await expect(rotateSecrets(config, database, SETTLE_MS)).rejects.toMatchObject({ code: 'config_invalid' })
  const both = readConfig({ DATA_DIR: dataDir, SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: old })
  expect(await rotateSecrets(both, database, SETTLE_MS)).toEqual({ records: COUNT + 2, file: undefined })
  expect([await openedBy(database, old), await openedBy(database, next)]).toEqual([0, COUNT])
  expect(await rotateSecrets(both, database, SETTLE_MS)).toEqual({ records: 0, file: undefined })
  const wrong = readConfig({ DATA_DIR: dataDir, SECRETS_KEY: 'x'.repeat(32), SECRETS_KEY_PREVIOUS: old })
  await expect(rotateSecrets(wrong, database, SETTLE_MS)).rejects.toMatchObject({
    code: 'secrets_unreadable',
  })
})
