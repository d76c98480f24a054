import { beforeEach, expect, it } from 'vitest'
import type { ProjectViewStore } from '../../../src/ingest/project-views.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createProjectStore } from '../../../src/storage/sql/projects/store.ts'
import { createProjectViewStore } from '../../../src/storage/sql/projects/view-store.ts'
import { testClock } from '../../support/faults/test-clock.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

const OWNER = { workspace_id: 'w', project_id: 'p', created_by: 'u' }
const fields = (name: string) => ({ name, description: null, filter: null, params: {} })

describeOnSql('views of projects', (engine) => {
  let database: Database
  let store: ProjectViewStore
  beforeEach(async () => {
    database = await engine.openPlatform()
    store = createProjectViewStore(database, testClock())
  })

  it('are listed by name, changed in part, and belong to one project of one workspace', async () => {
    const slow = await store.create(OWNER, { ...fields('slow'), filter: 'gt(latency, "5s")' })
    const failed = await store.create(OWNER, { ...fields('failed'), params: { cols: 'name,error', t: '7d' } })
    await store.create({ ...OWNER, project_id: 'q' }, fields('slow'))
    expect(await store.list('w', 'p')).toEqual([failed, slow])
    expect(await store.list('v', 'p')).toEqual([])
    const changed = await store.update(slow, { name: 'very slow' })
    expect(changed).toEqual({ ...slow, name: 'very slow', modified_at: expect.any(Number) })
    for (const other of [{ workspace_id: 'v' }, { project_id: 'q' }, { id: 'x' }]) {
      expect(await store.update({ ...slow, ...other }, { name: 'x' })).toBeUndefined()
      expect(await store.delete({ ...slow, ...other })).toBe(false)
    }
    expect([await store.delete(slow), await store.delete(slow)]).toEqual([true, false])
  })

  it('have different names, also when several are saved at once', async () => {
    const saved = await Promise.allSettled([1, 2, 3].map(() => store.create(OWNER, fields('same'))))
    expect(saved.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    const other = await store.create(OWNER, fields('other'))
    await expect(store.update(other, { name: 'same' })).rejects.toMatchObject({ code: 'conflict' })
  })

  it('are at most 200, and go with their project', async () => {
    for (let at = 0; at < 200; at += 1) await store.create(OWNER, fields(`view ${at}`))
    await expect(store.create(OWNER, fields('one more'))).rejects.toMatchObject({ code: 'quota_reached' })
    const projects = createProjectStore(database, testClock())
    const { id } = await projects.create('w', { name: 'mine' }, { upsert: false })
    await store.create({ ...OWNER, project_id: id }, fields('a'))
    await projects.delete('w', id)
    expect(await store.list('w', id)).toEqual([])
    expect(await store.list('w', 'p')).toHaveLength(200)
  })
})
