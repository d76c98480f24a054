import { beforeEach, expect, it } from 'vitest'
import type { CommentStore } from '../../../src/ingest/comment-store.ts'
import { createCommentStore } from '../../../src/storage/sql/comments/comment-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { NOW, settableClock } from '../../support/faults/test-clock.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

describeOnSql('comments', (engine) => {
  let database: Database
  let store: CommentStore
  let clock: ReturnType<typeof settableClock>
  beforeEach(async () => {
    database = await engine.openPlatform()
    clock = settableClock()
    store = createCommentStore(database, clock)
  })

  const by = { user_id: 'u', api_key_id: 'k', author: 'Ada' }
  const on = (run_id: string, text: string, mentions: string[] = []) => {
    clock.time += 1
    return store.create({ workspace_id: 'w', trace_id: 't', run_id, text, mentions, ...by })
  }

  it('has the comments of a trace in order, and changes and deletes one of them', async () => {
    const first = await on('r', 'one', ['v', 'v', 'x'])
    const second = await on('s', 'two')
    expect(first).toMatchObject({ ...by, run_id: 'r', mentions: ['v', 'x'], edited_at: null })
    expect(await store.ofTrace('w', 't')).toEqual([first, second])
    expect(await store.ofTrace('other', 't')).toEqual([])
    expect(await store.find('other', first.id)).toBeUndefined()
    clock.time = NOW + 500
    const changed = { ...first, text: 'uno', mentions: ['x'], edited_at: NOW + 500 }
    expect(await store.update('w', first.id, { text: 'uno', mentions: ['x'] })).toEqual(changed)
    expect(await store.update('other', first.id, { text: 'no', mentions: [] })).toBeUndefined()
    expect([await store.delete('w', second.id), await store.delete('w', second.id)]).toEqual([true, false])
    expect(await store.ofTrace('w', 't')).toEqual([changed])
  })

  it('finds the comments that mention a member, newest first', async () => {
    const [a, , c] = [await on('r', 'a', ['v']), await on('r', 'b'), await on('s', 'c', ['v', 'u'])]
    expect(await store.mentionsOf('w', 'v', 10)).toEqual([c, a])
    expect(await store.mentionsOf('w', 'v', 1)).toEqual([c])
    expect(await store.mentionsOf('other', 'v', 10)).toEqual([])
    await store.update('w', c.id, { text: 'c', mentions: ['u'] })
    expect(await store.mentionsOf('w', 'v', 10)).toEqual([a])
  })

  it('deletes the comments of deleted runs, with their mentions', async () => {
    const kept = await on('kept', 'stays', ['v'])
    await on('gone', 'goes', ['v'])
    await store.removeRuns('other', ['gone'])
    expect(await store.ofTrace('w', 't')).toHaveLength(2)
    await store.removeRuns('w', ['gone', 'unknown'])
    expect(await store.ofTrace('w', 't')).toEqual([kept])
    expect(await store.mentionsOf('w', 'v', 10)).toEqual([kept])
    expect(await database.query('SELECT * FROM comment_mentions')).toHaveLength(1)
  })
})
