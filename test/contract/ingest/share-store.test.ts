import { beforeEach, expect, it } from 'vitest'
import type { ShareStore } from '../../../src/ingest/share-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { serverSecret } from '../../../src/storage/sql/shares/server-secret.ts'
import { createShareStore } from '../../../src/storage/sql/shares/share-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const trace = (trace_id: string, project_id = 'p') => ({ kind: 'trace', project_id, trace_id }) as const
const thread = (thread_id: string, project_id = 'p') => ({ kind: 'thread', project_id, thread_id }) as const

describeOnSql('shares', (engine) => {
  let database: Database
  let store: ShareStore
  beforeEach(async () => {
    database = await engine.openPlatform()
    store = createShareStore(database, testClock())
    await database.query(`INSERT INTO organizations (id, display_name, created_at) VALUES ('o', 'o', 0)`)
    for (const id of ['w', 'v'])
      await database.query(
        `INSERT INTO workspaces (id, organization_id, display_name, created_at) VALUES (?, 'o', 'w', 0)`,
        [id],
      )
  })

  it('a trace has one token, also when many share it at once', async () => {
    const made = await Promise.all([1, 2, 3].map(() => store.create('w', trace('t'))))
    expect(new Set(made.map(({ token }) => token)).size).toBe(1)
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1)
    const { token } = made[0]!
    expect(await store.create('w', trace('t', 'another project'))).toEqual({ token, isNew: false })
    expect(await store.find(token)).toEqual({ token, workspace_id: 'w', subject: trace('t') })
    expect(await store.tokensOfTraces('w', ['t', 'u'])).toEqual(new Map([['t', token]]))
    expect(await store.tokensOfTraces('v', ['t'])).toEqual(new Map())
    expect((await store.create('v', trace('t'))).token).not.toBe(token)
  })

  it('a requested token is used unless it is taken', async () => {
    expect(await store.create('w', trace('t'), 'wanted')).toEqual({ token: 'wanted', isNew: true })
    const other = await store.create('v', trace('u'), 'wanted')
    expect(other).toEqual({ token: expect.stringMatching(/^[0-9a-f-]{36}$/), isNew: true })
  })

  it('a thread has one token in each project', async () => {
    const { token } = await store.create('w', thread('x'))
    expect((await store.create('w', thread('x', 'q'))).token).not.toBe(token)
    expect((await store.create('w', trace('x'))).token).not.toBe(token)
    expect(await store.find(token)).toMatchObject({ subject: thread('x') })
    expect(await store.tokenOfThread('w', 'p', 'x')).toBe(token)
    expect(await store.removeThread('w', 'p', 'x')).toBe(true)
    expect(await store.removeThread('w', 'p', 'x')).toBe(false)
    expect(await store.find(token)).toBeUndefined()
  })

  it('shares end with their trace, their project and their workspace', async () => {
    const [one, two, three, other] = [
      await store.create('w', trace('1')),
      await store.create('w', trace('2')),
      await store.create('w', thread('3')),
      await store.create('w', trace('4', 'q')),
    ]
    expect(await store.removeTraces('v', ['1'])).toBe(0)
    expect(await store.removeTraces('w', ['1', 'none'])).toBe(1)
    expect(await store.find(one.token)).toBeUndefined()
    await store.removeProject('w', 'p')
    expect(await store.find(two.token)).toBeUndefined()
    expect(await store.find(three.token)).toBeUndefined()
    expect(await store.find(other.token)).toBeDefined()
    await database.query(`UPDATE workspaces SET deleted_at = 2 WHERE id = 'w'`)
    expect(await store.find(other.token)).toBeUndefined()
  })

  it('servers of one database have the same secret', async () => {
    const [a, b] = await Promise.all([serverSecret(database, 'x')(), serverSecret(database, 'x')()])
    expect(a).toMatch(/^[0-9a-f]{64}$/)
    expect(b).toBe(a)
    expect(await serverSecret(database, 'y')()).not.toBe(a)
  })
})
