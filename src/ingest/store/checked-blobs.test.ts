import { createHash, randomBytes } from 'node:crypto'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { createFileBlobStore } from '../../storage/files/blob-store.ts'
import { createCheckedBlobs } from './checked-blobs.ts'
import { newFolder } from '../../../test/support/folder.ts'

const SMALL = 1_000
const LARGE = 5 << 20
const DAMAGED = { code: 'attachment_damaged' }

async function openBlobs(size: number) {
  const dir = await newFolder()
  const lines: string[] = []
  const logger = createLogger({
    level: 'error',
    destination: { write: (line: string) => void lines.push(line) },
  })
  const blobs = createCheckedBlobs(createFileBlobStore(dir), logger)
  const bytes = new Uint8Array(randomBytes(size))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  await blobs.put([{ sha256, bytes }])
  return { blobs, bytes, sha256, file: join(dir, sha256.slice(0, 2), sha256), lines }
}

async function readAll({ blobs, sha256 }: Awaited<ReturnType<typeof openBlobs>>): Promise<Buffer> {
  const found = await blobs.read(sha256)
  if (found === undefined) throw new Error('not found')
  return buffer(found.bytes)
}

describe.each([SMALL, LARGE])('a stored attachment of %i bytes', (size) => {
  it('is returned as it was put', async () => {
    const opened = await openBlobs(size)
    const found = await opened.blobs.read(opened.sha256)
    expect(found?.size).toBe(size)
    found?.bytes.destroy()
    expect((await readAll(opened)).equals(opened.bytes)).toBe(true)
    await opened.blobs.check()
  })

  it.each(['flipped', 'cut'])(
    'is an error when it is %s, in the log and in health, until it is put again',
    async (how) => {
      const opened = await openBlobs(size)
      const { blobs, bytes, sha256, file, lines } = opened
      if (how === 'cut') await truncate(file, size - 1)
      else await writeFile(file, bytes.with(size >> 1, (bytes[size >> 1] ?? 0) ^ 1))
      for (let n = 0; n < 2; n++) await expect(readAll(opened)).rejects.toMatchObject(DAMAGED)
      await expect(blobs.check()).rejects.toMatchObject(DAMAGED)
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain(sha256)
      await blobs.put([{ sha256, bytes }])
      expect((await readAll(opened)).equals(bytes)).toBe(true)
      await blobs.check()
    },
  )
})

it('a damaged large attachment never arrives complete', async () => {
  const { blobs, bytes, sha256, file } = await openBlobs(LARGE)
  await writeFile(file, bytes.with(0, (bytes[0] ?? 0) ^ 1))
  const found = await blobs.read(sha256)
  let received = 0
  const read = async (): Promise<void> => {
    for await (const chunk of found?.bytes ?? []) received += (chunk as Uint8Array).length
  }
  await expect(read()).rejects.toMatchObject(DAMAGED)
  expect(received).toBeLessThan(LARGE)
})
