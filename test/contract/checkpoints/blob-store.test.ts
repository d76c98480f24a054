import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BlobStore } from '../../../src/ingest/store/blob-store.ts'
import { createFileBlobStore } from '../../../src/storage/files/blob-store.ts'
import type { Blob } from '../../../src/trace/decode/decoded.ts'

let dir: string
let store: BlobStore
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-'))
  store = createFileBlobStore(join(dir, 'blobs'))
})
afterEach(() => rm(dir, { recursive: true }))

function blob(text: string): Blob {
  const bytes = Buffer.from(text)
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes }
}

async function read(sha256: string): Promise<string | undefined> {
  const found = await store.read(sha256)
  return found && `${found.size} ${(await buffer(found.bytes)).toString()}`
}

describe('blobs in files', () => {
  it('are returned unchanged', async () => {
    const texts = ['one', '', 'x'.repeat(200_000)]
    await store.put(texts.map(blob))
    for (const text of texts) expect(await read(blob(text).sha256)).toBe(`${text.length} ${text}`)
  })

  it('are stored once, for any number of puts at the same time', async () => {
    const one = blob('same')
    await Promise.all([store.put([one]), store.put([one, one]), store.put([one])])
    expect(await readdir(join(dir, 'blobs', one.sha256.slice(0, 2)))).toEqual([one.sha256])
    expect(await read(one.sha256)).toBe('4 same')
  })

  it('replace a file that is incomplete', async () => {
    const one = blob('whole')
    await store.put([one])
    await writeFile(join(dir, 'blobs', one.sha256.slice(0, 2), one.sha256), 'who')
    await store.put([one])
    expect(await read(one.sha256)).toBe('5 whole')
  })

  it('are not found under any other name', async () => {
    for (const name of [blob('none').sha256, '../../etc/passwd', ''])
      expect(await store.read(name)).toBeUndefined()
    await expect(store.put([{ sha256: '../x', bytes: Buffer.from('x') }])).rejects.toThrow('SHA-256')
  })
})
