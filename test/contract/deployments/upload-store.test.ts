import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { createUploads, type Uploads } from '../../../src/deploy/source/uploads.ts'
import { createUploadStore } from '../../../src/storage/sql/deployments/upload-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'
import { newFolder } from '../../support/folder.ts'

const MINUTE_MS = 60_000
const MAX_BYTES = 100_000

describeOnSql('uploads of sources', (engine) => {
  let database: Database
  let uploads: Uploads
  let dir: string
  let now: number
  beforeEach(async () => {
    now = NOW
    dir = await newFolder()
    database = await engine.openPlatform()
    const clock = testClock(() => now)
    uploads = createUploads({ store: createUploadStore(database, clock), dir, max_bytes: MAX_BYTES, clock })
  })

  async function* body(...chunks: (string | Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      if (chunk instanceof Error) throw chunk
      yield Buffer.from(chunk)
    }
  }
  const filesOf = async (id: string): Promise<string[]> => readdir(join(dir, 'sources', id)).catch(() => [])

  it('P-11: a source is written once, with its hash, and found by its deployment only', async () => {
    const { object_path, token } = await uploads.allow('d')
    await expect(uploads.open('d', object_path)).rejects.toMatchObject({ code: 'invalid_request' })
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(await uploads.receive(token, body('a', 'bc'))).toEqual({ sha256, bytes: 3 })
    const source = await uploads.open('d', object_path)
    expect(source).toMatchObject({ sha256, bytes: 3 })
    expect(await readFile(source.file, 'utf8')).toBe('abc')
    await expect(uploads.receive(token, body('other'))).rejects.toMatchObject({ code: 'forbidden' })
    expect(await readFile(source.file, 'utf8')).toBe('abc')
    await expect(uploads.open('e', object_path)).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(uploads.open('d', '../../etc/passwd')).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('P-11: a token is valid for 15 minutes and is not stored as it is', async () => {
    const { token } = await uploads.allow('d')
    expect(Buffer.from(token, 'base64url')).toHaveLength(16)
    const rows = await database.query('SELECT * FROM deployment_uploads')
    expect(JSON.stringify(rows)).not.toContain(token)
    now += 15 * MINUTE_MS
    await expect(uploads.receive(token, body('a'))).rejects.toMatchObject({ code: 'forbidden' })
    const other = await uploads.allow('d')
    now += 15 * MINUTE_MS - 1
    expect(await uploads.receive(other.token, body('a'))).toMatchObject({ bytes: 1 })
  })

  it('a disk that is full is an error of the table, and leaves nothing', async () => {
    const { token, object_path } = await uploads.allow('d')
    // Every write to /dev/full fails with ENOSPC.
    await mkdir(join(dir, dirname(object_path)), { recursive: true })
    await symlink('/dev/full', join(dir, `${object_path}.part`))
    await expect(uploads.receive(token, body('a'))).rejects.toMatchObject({ code: 'disk_full' })
    expect(await filesOf('d')).toEqual([])
  })

  it('a source that is too large or cut off leaves nothing', async () => {
    const { token, object_path } = await uploads.allow('d')
    const large = body(randomBytes(MAX_BYTES), 'x')
    await expect(uploads.receive(token, large)).rejects.toMatchObject({ code: 'body_too_large' })
    const cut = await uploads.allow('d')
    await expect(uploads.receive(cut.token, body('a', new Error('cut off')))).rejects.toThrow('cut off')
    expect(await filesOf('d')).toEqual([])
    await expect(uploads.open('d', object_path)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('of several uploads with one token at once, one is accepted', async () => {
    const { token } = await uploads.allow('d')
    const ends = await Promise.allSettled([1, 2, 3].map((n) => uploads.receive(token, body(String(n)))))
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await filesOf('d')).toHaveLength(1)
  })
})
