import { beforeEach, expect, it } from 'vitest'
import type { ShareStore } from '../../../src/ingest/share-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { serverSecret } from '../../../src/storage/sql/shares/server-secret.ts'
import { createShareStore } from '../../../src/storage/sql/shares/share-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { settableClock } from '../../support/faults/test-clock.ts'

const trace = (trace_id: string, project_id = 'p') => ({ kind: 'trace', project_id, trace_id }) as const
const thread = (thread_id: string, project_id = 'p') => ({ kind: 'thread', project_id, thread_id }) as const

describeOnSql('shares', (engine) => {
  let database: Database
  let store: ShareStore
  let clock: ReturnType<typeof settableClock>
  beforeEach(async () => {
    database = await engine.openPlatform()
    clock = settableClock()
    store = createShareStore(database, clock)
    await database.query(`INSERT INTO organizations (id, display_name, created_at) VALUES ('o', 'o', 0)`)
    for (const id of ['w', 'v'])
      await database.query(
        `INSERT INTO workspaces (id, organization_id, display_name, created_at) VALUES (?, 'o', 'w', 0)`,
        [id],
      )
  })

  it('a trace has one token, also when many share it at once', async () => {
    const made = await Promise.all([1, 2, 3].map(() => store.create('w', trace('t'))))
    expect(new Set(made.map(({ share }) => share.token)).size).toBe(1)
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1)
    const { share } = made[0]!
    const { token } = share
    expect(await store.create('w', trace('t', 'another project'))).toEqual({ share, isNew: false })
    expect(await store.find(token)).toEqual({
      token,
      workspace_id: 'w',
      subject: trace('t'),
      expires_at: null,
    })
    expect(await store.ofTraces('w', ['t', 'u'])).toEqual(new Map([['t', share]]))
    expect(await store.ofTraces('v', ['t'])).toEqual(new Map())
    expect((await store.create('v', trace('t'))).share.token).not.toBe(token)
  })

  it('a requested token is used unless it is taken', async () => {
    const wish = { token: 'wanted' }
    expect(await store.create('w', trace('t'), wish)).toMatchObject({ share: wish, isNew: true })
    const other = await store.create('v', trace('u'), wish)
    expect(other).toMatchObject({ share: { token: expect.stringMatching(/^[0-9a-f-]{36}$/) }, isNew: true })
  })

  it('a thread has one token in each project', async () => {
    const { share } = await store.create('w', thread('x'))
    const { token } = share
    expect((await store.create('w', thread('x', 'q'))).share.token).not.toBe(token)
    expect((await store.create('w', trace('x'))).share.token).not.toBe(token)
    expect(await store.find(token)).toMatchObject({ subject: thread('x') })
    expect(await store.ofThread('w', 'p', 'x')).toEqual(share)
    expect(await store.removeThread('w', 'p', 'x')).toBe(true)
    expect(await store.removeThread('w', 'p', 'x')).toBe(false)
    expect(await store.find(token)).toBeUndefined()
  })

  it('shares end with their trace, their project and their workspace', async () => {
    const [one, two, three, other] = [
      (await store.create('w', trace('1'))).share,
      (await store.create('w', trace('2'))).share,
      (await store.create('w', thread('3'))).share,
      (await store.create('w', trace('4', 'q'))).share,
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

  it('SHARE-7: a share ends at its time, which can be changed before; sharing again makes another token', async () => {
    const day = 86_400_000
    const { share } = await store.create('w', trace('t'), { expires_at: clock.now() + day })
    expect(share.expires_at).toBe(clock.now() + day)
    expect((await store.create('w', trace('t'))).share).toEqual(share)
    const later = { ...share, expires_at: clock.now() + 2 * day }
    const wish = { expires_at: later.expires_at }
    expect(await store.create('w', trace('t'), wish)).toEqual({ share: later, isNew: false })
    await store.create('w', thread('x'), wish)
    clock.time = later.expires_at - 1
    expect(await store.find(share.token)).toEqual(later)
    clock.time = later.expires_at
    await expect(store.find(share.token)).rejects.toMatchObject({ code: 'share_ended' })
    expect(await store.ofTraces('w', ['t'])).toEqual(new Map())
    expect(await store.ofThread('w', 'p', 'x')).toBeUndefined()
    const again = await store.create('w', trace('t'), { expires_at: null })
    expect(again).toMatchObject({ isNew: true, share: { expires_at: null } })
    expect(again.share.token).not.toBe(share.token)
    await expect(store.find(share.token)).rejects.toMatchObject({ code: 'share_ended' })
    clock.time = later.expires_at + 31 * day
    await store.create('w', trace('u'))
    expect(await store.find(share.token)).toBeUndefined()
    expect(await store.find(again.share.token)).toEqual(again.share)
  })

  it('servers of one database have the same secret', async () => {
    const [a, b] = await Promise.all([serverSecret(database, 'x')(), serverSecret(database, 'x')()])
    expect(a).toMatch(/^[0-9a-f]{64}$/)
    expect(b).toBe(a)
    expect(await serverSecret(database, 'y')()).not.toBe(a)
  })
})
