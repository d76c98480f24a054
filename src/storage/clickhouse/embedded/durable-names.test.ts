import { mkdir, rm, utimes } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { createDurableNames } from './durable-names.ts'
import { newFolder } from '../../../../test/support/folder.ts'

const TABLES = ['store/a11/one', 'store/b22/two']
const LONG_AGO = new Date('2026-01-01T00:00:00Z')

it('syncs the folders of tables that changed, and after a change of the schema all folders above parts', async () => {
  const root = await newFolder()
  for (const folder of [...TABLES, 'metadata', 'data/weir'])
    await mkdir(join(root, folder), { recursive: true })
  let synced: string[] = []
  const names = createDurableNames(root, async (folder) => void synced.push(relative(root, folder)))
  const settle = async (...folders: string[]): Promise<void> => {
    for (const folder of folders) await utimes(join(root, folder), LONG_AGO, LONG_AGO)
  }
  const since = (): string[] => {
    const all = synced.sort()
    synced = []
    return all
  }
  const above = ['', 'data', 'data/weir', 'metadata', 'store', 'store/a11', 'store/b22']
  await settle(...above, ...TABLES)
  await names.syncAll()
  expect(since()).toEqual([...above, ...TABLES].sort())
  await names.syncTables()
  await names.syncAll()
  expect(since()).toEqual([])

  await mkdir(join(root, 'store/b22/two/all_1_1_0'))
  await names.syncTables()
  expect(since()).toEqual(['store/b22/two'])
  // The folder is synced again: its change time is so recent that a later change may have the same time.
  await names.syncTables()
  expect(since()).toEqual(['store/b22/two'])

  await settle('store/b22/two')
  await names.syncTables()
  await rm(join(root, 'store/a11'), { recursive: true })
  await names.syncTables()
  await mkdir(join(root, 'store/c33/three'), { recursive: true })
  await settle('store')
  since()
  await names.syncAll()
  expect(since()).toEqual(['store/c33', 'store/c33/three'])
})
