import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { AppError } from '../../../src/base/errors.ts'
import { createArtifacts } from '../../../src/deploy/artifacts.ts'
import { fetchArtifact, shareArtifact, type SharingParts } from '../../../src/deploy/build/packed-artifact.ts'
import type { SharedFiles } from '../../../src/deploy/stores/shared-files.ts'
import type { BlobStore } from '../../../src/ingest/store/blob-store.ts'
import { createFileBlobStore } from '../../../src/storage/files/blob-store.ts'
import { createSharedFiles } from '../../../src/storage/sql/deployments/shared-files.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../support/faults/test-clock.ts'
import { newFolder } from '../../support/folder.ts'

const BUILT = { id: 'r', deployment_id: 'd', config_path: 'langgraph.json', artifact_sha256: 'a1' }
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

describeOnSql('P-37: files that servers share', (engine) => {
  let database: Database
  let files: SharedFiles
  let blobStore: BlobStore
  let dir: string
  let now: number
  beforeEach(async () => {
    now = Date.now()
    dir = await newFolder()
    database = await engine.openPlatform()
    blobStore = createFileBlobStore(join(dir, 'blobs'))
    files = createSharedFiles(
      database,
      blobStore,
      testClock(() => now),
    )
  })

  const parts = (server: string): SharingParts => ({
    files,
    artifacts: createArtifacts(join(dir, server)),
    sandbox: async () => undefined,
    record: async () => async () => undefined,
    env: { PATH: process.env['PATH'] ?? '' },
  })
  const blobs = async (): Promise<number> => {
    const found = await readdir(join(dir, 'blobs'), { recursive: true, withFileTypes: true })
    return found.filter((entry) => entry.isFile()).length
  }

  const rows = async (): Promise<number> => (await database.query('SELECT path FROM deployment_files')).length

  it('are the same bytes elsewhere, in parts, until they are removed', async () => {
    const [file, other] = [join(dir, 'file'), join(dir, 'other')]
    const bytes = randomBytes((8 << 20) + 1)
    await writeFile(file, bytes)
    await files.put('d', 'sources/d/1', file, '')
    await files.put('e', 'sources/e/1', file, '')
    expect(await blobs()).toBe(4)
    expect(await files.get('d', 'sources/d/1', other)).toEqual({ made_in: '' })
    expect((await readFile(other)).equals(bytes)).toBe(true)
    expect(await files.get('e', 'sources/d/1', other)).toBeUndefined()

    const made = now
    now += MINUTE
    await files.prune('d', new Set(), made)
    await files.prune('d', new Set(['sources/d/1']), now)
    expect(await files.has('d', 'sources/d/1')).toBe(true)
    await files.prune('d', new Set(), now)
    expect([await files.has('d', 'sources/d/1'), await blobs()]).toEqual([false, 2])
  })

  it('stay when another server stores them again while they are removed', async () => {
    const file = join(dir, 'file')
    await writeFile(file, 'source')
    now -= MINUTE
    await files.put('d', 'sources/d/1', file, '')
    const { remove } = blobStore
    blobStore.remove = async (...part) => {
      await files.put('d', 'sources/d/1', file, '')
      return await remove(...part)
    }
    const before = now + 1
    now += 2 * MINUTE
    await files.prune('d', new Set(), before)
    expect(await files.get('d', 'sources/d/1', join(dir, 'other'))).toEqual({ made_in: '' })
    expect(await readFile(join(dir, 'other'), 'utf8')).toBe('source')
  })

  it('are not unpacked when they have more bytes or entries than a build may have', async () => {
    const [a, b] = [parts('a'), parts('b')]
    const { signal } = new AbortController()
    const made = await a.artifacts.begin('r')
    await writeFile(join(made, 'file'), Buffer.alloc(1 << 20))
    await symlink('file', join(made, 'link'))
    await mkdir(join(made, 'a'.repeat(120)))
    await a.artifacts.keep(BUILT, 'a1')
    await shareArtifact(a, BUILT, signal)
    const fetching = (max_bytes: number, max_files: number) =>
      fetchArtifact(b, BUILT, signal, { max_bytes, max_files })
    const tooSmall: [number, number][] = [
      [(1 << 20) - 1, 4],
      [1 << 20, 3],
      [100, 4],
    ]
    for (const [max_bytes, max_files] of tooSmall) {
      await expect(fetching(max_bytes, max_files)).rejects.toBeInstanceOf(AppError)
      expect(existsSync(b.artifacts.path('d', 'a1'))).toBe(false)
      expect(await readdir(join(dir, 'b', 'builds'))).toEqual([])
    }
    // The folder of the build counts as one file of `max_files`.
    expect(await fetching(1 << 20, 4)).toBe(true)
  })

  it('are swept when their deployment does not exist, also after a removal that failed in between', async () => {
    const file = join(dir, 'file')
    await writeFile(file, randomBytes((8 << 20) + 1))
    await files.put('d', 'sources/d/1', file, '')
    await files.put('d', 'sources/d/2', file, '')
    const { remove } = blobStore
    blobStore.remove = () => Promise.reject(new Error('the store is away'))
    await expect(files.prune('d', new Set(), now + 1)).rejects.toThrow('away')
    blobStore.remove = remove
    expect(await blobs()).toBe(4)
    await files.sweep(now)
    expect(await blobs()).toBe(4)
    now = Date.now() + MINUTE
    await files.sweep(now)
    expect([await blobs(), await rows()]).toEqual([0, 0])
  })

  it('leave no bytes of a put that was cut short, and keep those of deployments that exist', async () => {
    const file = join(dir, 'file')
    await writeFile(file, randomBytes((8 << 20) + 1))
    await database.query(
      `INSERT INTO deployments (id, organization_id, workspace_id, name, hosted_name, type, secrets, latest_number,
        created_at, updated_at) VALUES ('d', 'o', 'w', 'n', 'n', 'dev', '[]', 0, 1, 1)`,
    )
    await files.put('d', 'sources/d/1', file, '')
    const { put } = blobStore
    let puts = 0
    blobStore.put = async (part) => {
      if (++puts === 2) throw new Error('the store is away')
      return put(part)
    }
    await expect(files.put('d', 'sources/d/2', file, '')).rejects.toThrow('away')
    expect([await files.has('d', 'sources/d/2'), await blobs()]).toEqual([false, 3])
    now = Date.now() + MINUTE
    await files.sweep(now)
    expect([await files.has('d', 'sources/d/1'), await blobs(), await rows()]).toEqual([true, 2, 1])
  })

  it('count as not stored once a part of them is missing, and can be stored again', async () => {
    const [file, other] = [join(dir, 'file'), join(dir, 'other')]
    await writeFile(file, randomBytes((8 << 20) + 1))
    await files.put('d', 'sources/d/1', file, '')
    const [found] = await database.query<{ parts: string }>('SELECT parts FROM deployment_files')
    const [, last = ''] = JSON.parse(found?.parts ?? '') as string[]
    await blobStore.remove(last, Date.now() + MINUTE)
    now += DAY
    expect(await files.get('d', 'sources/d/1', other)).toBeUndefined()
    expect([await files.has('d', 'sources/d/1'), existsSync(other)]).toEqual([false, false])
    // One part is lost. The other part is kept as long as after a new put, so that a server can store the file again.
    await files.sweep(now)
    expect(await blobs()).toBe(1)
    await files.put('d', 'sources/d/1', file, '')
    expect(await files.get('d', 'sources/d/1', other)).toEqual({ made_in: '' })
    expect((await readFile(other)).equals(await readFile(file))).toBe(true)
  })

  it('stay stored when a part of them cannot be read at the moment', async () => {
    const file = join(dir, 'file')
    await writeFile(file, 'source')
    await files.put('d', 'sources/d/1', file, '')
    const away = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    blobStore.read = () => Promise.reject(away)
    await expect(files.get('d', 'sources/d/1', join(dir, 'other'))).rejects.toBe(away)
    expect(await files.has('d', 'sources/d/1')).toBe(true)
  })

  it('stay when another server has lost and stored them again since they were found for removal', async () => {
    const [file, other] = [join(dir, 'file'), join(dir, 'other')]
    await writeFile(file, 'source')
    for (const path of ['sources/d/1', 'sources/d/2']) await files.put('d', path, file, '')
    const { read, remove } = blobStore
    blobStore.remove = async (...part) => {
      Object.assign(blobStore, { remove, read: async () => undefined })
      expect(await files.get('d', 'sources/d/2', other)).toBeUndefined()
      blobStore.read = read
      await files.put('d', 'sources/d/2', file, '')
      return await remove(...part)
    }
    now += MINUTE
    await files.prune('d', new Set(), now)
    expect(await files.has('d', 'sources/d/1')).toBe(false)
    expect(await files.get('d', 'sources/d/2', other)).toEqual({ made_in: '' })
  })

  it('are builds with links and modes, whose environment of Python names its new folder', async () => {
    const [a, b] = [parts('a'), parts('b')]
    const { signal } = new AbortController()
    expect(await fetchArtifact(b, BUILT, signal)).toBe(false)
    const made = await a.artifacts.begin('r')
    await mkdir(join(made, '.venv', 'bin'), { recursive: true })
    const program = `#!${a.artifacts.path('d', 'a1')}/.venv/bin/python\n`
    await writeFile(join(made, '.venv', 'bin', 'pip'), program, { mode: 0o755 })
    await symlink('pip', join(made, '.venv', 'bin', 'pip3'))
    await a.artifacts.keep(BUILT, 'a1')
    await shareArtifact(a, BUILT, signal)
    await shareArtifact(a, BUILT, signal)

    expect(await fetchArtifact(b, BUILT, signal)).toBe(true)
    const bin = join(b.artifacts.path('d', 'a1'), '.venv', 'bin')
    expect(await readFile(join(bin, 'pip'), 'utf8')).toBe(`#!${bin}/python\n`)
    expect(await readlink(join(bin, 'pip3'))).toBe('pip')
    expect((await stat(join(bin, 'pip'))).mode & 0o111).not.toBe(0)
    expect(await readdir(b.artifacts.path('d', 'a1'))).toEqual(['.venv'])
    for (const server of ['a', 'b']) expect(await readdir(join(dir, server, 'builds'))).toEqual([])
  })
})
