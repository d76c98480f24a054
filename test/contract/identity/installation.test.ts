import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  folderStore,
  type Installation,
  type MarkedStore,
  openInstallation,
  redisStore,
  sqlStore,
} from '../../../src/storage/installation.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { newFolder } from '../../support/folder.ts'

/** A store in memory that tests can empty and replace. */
function memoryStore(): MarkedStore & { id: string | undefined } {
  return {
    name: 'memory',
    place: 'The memory',
    id: undefined,
    async read() {
      return this.id
    },
    async write(id) {
      this.id = id
    },
  }
}

describeOnSql('the installation', (engine) => {
  async function open(dataDir: string, acceptEmpty = false): Promise<Installation> {
    const database = await engine.openAgain()
    return await openInstallation({ database, place: 'The database', dataDir, acceptEmpty })
  }

  it('marks a new store, and recognises it later', async () => {
    await engine.open()
    const [dataDir, store] = [await newFolder(), memoryStore()]
    const check = await (await open(dataDir)).claim(store)
    await check()
    expect(store.id).toMatch(/^[0-9a-f-]{36}$/)
    const marked = store.id
    await (await open(dataDir)).claim(store)
    expect(store.id).toBe(marked)
    await (await open(await newFolder())).claim(store)
    const later = folderStore('later', join(dataDir, 'later'))
    await (await open(dataDir)).claim(later)
    expect(await later.read()).toBe(marked)
  })

  it('refuses a store that was emptied, at the start and later, unless that is accepted', async () => {
    await engine.open()
    const [dataDir, store] = [await newFolder(), memoryStore()]
    const check = await (await open(dataDir)).claim(store)
    const marked = store.id
    store.id = undefined
    const refused = {
      code: 'store_changed',
      message: expect.stringMatching(/The memory is empty.*--accept-empty-store/),
    }
    await expect(check()).rejects.toMatchObject(refused)
    await expect((await open(dataDir)).claim(store)).rejects.toMatchObject(refused)
    expect(store.id).toBeUndefined()
    await (await open(dataDir, true)).claim(store)
    expect(store.id).toBe(marked)
    await (await open(dataDir)).claim(store)
  })

  it('refuses a store of another installation, also with acceptEmpty', async () => {
    await engine.open()
    const [dataDir, store] = [await newFolder(), memoryStore()]
    const check = await (await open(dataDir)).claim(store)
    store.id = 'another'
    const refused = { code: 'store_changed', message: expect.stringContaining('another installation') }
    await expect(check()).rejects.toMatchObject(refused)
    for (const accept of [false, true])
      await expect((await open(dataDir, accept)).claim(store)).rejects.toMatchObject(refused)
  })

  it('refuses a database that was emptied or replaced while its folder stayed', async () => {
    await engine.open()
    const dataDir = await newFolder()
    const store = memoryStore()
    await (await open(dataDir)).claim(store)
    const marked = store.id
    await engine.open()
    await expect(open(dataDir)).rejects.toMatchObject({ code: 'store_changed' })
    await expect(open(dataDir)).rejects.toMatchObject({ code: 'store_changed' })
    await (await open(dataDir, true)).claim(store)
    expect(store.id).toBe(marked)
    await engine.open()
    await open(await newFolder())
    await expect(open(dataDir)).rejects.toThrow('another installation')
  })

  it('is created once when several servers start at the same time', async () => {
    const database = await engine.open()
    const folders = await Promise.all(Array.from({ length: 4 }, newFolder))
    const opened = await Promise.all(folders.map((dataDir) => open(dataDir)))
    const stores = folders.map((dataDir) => folderStore(dataDir, dataDir))
    for (const [i, store] of stores.entries()) await opened[i]?.claim(store)
    const ids = await Promise.all([...stores, sqlStore('sql', '', database)].map((store) => store.read()))
    expect(new Set(ids).size).toBe(1)
  })
})

it('does not treat a folder with an unreadable id as emptied', async () => {
  const folder = await newFolder()
  const store = folderStore('folder', folder)
  expect(await store.read()).toBeUndefined()
  // A folder cannot be read as a file, even by root.
  await mkdir(join(folder, 'installation'))
  await expect(store.read()).rejects.toMatchObject({ code: 'EISDIR' })
})

it('marks a Redis that lost its data again, and refuses one of another installation', async () => {
  const database = openSqlite(':memory:')
  onTestFinished(() => database.close())
  const options = { database, place: 'The database', dataDir: await newFolder(), acceptEmpty: false }
  let held: unknown = null
  const command = async (name: string, _key: unknown, value?: unknown): Promise<unknown> =>
    name === 'GET' ? held : (held = value)
  const check = await (await openInstallation(options)).claim(redisStore({ command }))
  const marked = held
  held = null
  await check()
  await (await openInstallation(options)).claim(redisStore({ command }))
  expect(held).toBe(marked)
  held = 'another'
  await expect(check()).rejects.toThrow('another installation')
})
