import { beforeEach, expect, it } from 'vitest'
import { createSealer } from '../../../src/base/node/sealer.ts'
import { createWorkspaceSecrets, type WorkspaceSecrets } from '../../../src/playground/secrets.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createWorkspaceSecretStore } from '../../../src/storage/sql/secrets/workspace-secret-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

const HOSTS = ['api.example.com']

describeOnSql('secrets of workspaces (N15)', (engine) => {
  let database: Database
  let now = NOW
  const secretsWith = (key: string): WorkspaceSecrets =>
    createWorkspaceSecrets({
      store: createWorkspaceSecretStore(
        database,
        testClock(() => now),
      ),
      sealer: async () => createSealer(key),
      usualHosts: new Map([['KNOWN_KEY', ['known.example.com']]]),
    })
  beforeEach(async () => {
    database = await engine.openPlatform()
  })

  it('are opened for their hosts and in their workspace only, and with the key that sealed them', async () => {
    const secrets = secretsWith('k')
    await secrets.write('w1', [
      { key: 'A', value: 'sk-value', hosts: ['API.example.com', 'api.example.com'] },
    ])
    expect(await secrets.valueFor('w1', 'A', 'Api.Example.com')).toBe('sk-value')
    await expect(secrets.valueFor('w1', 'A', 'example.com')).rejects.toMatchObject({
      code: 'host_not_allowed',
    })
    await expect(secrets.valueFor('w2', 'A', 'api.example.com')).rejects.toMatchObject({
      code: 'secret_missing',
    })
    const other = secretsWith('other')
    await expect(other.valueFor('w1', 'A', 'api.example.com')).rejects.toMatchObject({
      code: 'secrets_unreadable',
    })
    expect(JSON.stringify(await database.query('SELECT * FROM workspace_secrets'))).not.toContain('sk-value')
    // A row that was moved to another workspace cannot be decrypted.
    await database.query(`UPDATE workspace_secrets SET workspace_id = 'w2'`)
    await expect(secrets.valueFor('w2', 'A', 'api.example.com')).rejects.toMatchObject({
      code: 'secrets_unreadable',
    })
  })

  it('keep their hosts when only the value changes; usual names have usual hosts', async () => {
    const secrets = secretsWith('k')
    const written = [{ key: 'A', outcome: 'created', hosts: HOSTS }]
    expect(await secrets.write('w1', [{ key: 'A', value: '1', hosts: HOSTS }])).toEqual(written)
    now += 1_000
    expect(
      await secrets.write('w1', [
        { key: 'A', value: '2' },
        { key: 'KNOWN_KEY', value: '3' },
      ]),
    ).toMatchObject([{ outcome: 'updated', hosts: HOSTS }, { outcome: 'created' }])
    expect(await secrets.list('w1')).toEqual([
      { key: 'A', hosts: HOSTS, created_at: NOW, updated_at: NOW + 1_000 },
      { key: 'KNOWN_KEY', hosts: ['known.example.com'], created_at: NOW + 1_000, updated_at: NOW + 1_000 },
    ])
    await expect(secrets.write('w1', [{ key: 'B', value: '4' }])).rejects.toMatchObject({
      code: 'invalid_request',
    })
    const removal = [{ key: 'A', value: null }]
    expect(await secrets.write('w1', removal)).toMatchObject([{ outcome: 'deleted' }])
    expect(await secrets.write('w1', removal)).toMatchObject([{ outcome: 'none' }])
  })

  it('are written all or not at all', async () => {
    const secrets = secretsWith('k')
    const many = Array.from({ length: 99 }, (_, n) => ({ key: `K${n}`, value: 'v', hosts: HOSTS }))
    await secrets.write('w1', many)
    const before = await secrets.list('w1')
    const failing = [
      { key: 'K0', value: null },
      ...['L0', 'L1', 'L2'].map((key) => ({ key, value: 'v', hosts: HOSTS })),
    ]
    await expect(secrets.write('w1', failing)).rejects.toMatchObject({ code: 'quota_reached' })
    await expect(
      secrets.write('w1', [
        { key: 'K1', value: null },
        { key: 'M', value: 'v' },
      ]),
    ).rejects.toMatchObject({ code: 'invalid_request' })
    expect(await secrets.list('w1')).toEqual(before)
  })

  it('are at most 100 of a workspace', async () => {
    const secrets = secretsWith('k')
    const many = Array.from({ length: 100 }, (_, n) => ({ key: `K${n}`, value: 'v', hosts: HOSTS }))
    await secrets.write('w1', many)
    await expect(secrets.write('w1', [{ key: 'K100', value: 'v', hosts: HOSTS }])).rejects.toMatchObject({
      code: 'quota_reached',
    })
    await secrets.write('w1', [{ key: 'K99', value: 'w', hosts: HOSTS }])
  })
})
