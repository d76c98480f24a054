import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BlobStore } from '../../../src/ingest/store/blob-store.ts'
import { createFileBlobStore } from '../../../src/storage/files/blob-store.ts'
import { openS3Blobs, type S3Blobs, s3PlaceOf } from '../../../src/storage/s3/blob-store.ts'
import type { Blob } from '../../../src/trace/decode/decoded.ts'
import { startS3, type TestS3 } from '../../support/stores/s3.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'
import { newFolder } from '../../support/folder.ts'

let dir: string
let store: BlobStore
beforeEach(async () => {
  dir = await newFolder()
  store = createFileBlobStore(join(dir, 'blobs'))
})

function blob(text: string): Blob {
  const bytes = Buffer.from(text)
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes }
}

async function read(sha256: string): Promise<string | undefined> {
  const found = await store.read(sha256)
  return found && `${found.size} ${(await buffer(found.bytes)).toString()}`
}

/** Tests that every blob store must pass. */
function behavesAsBlobStore(): void {
  it('are returned unchanged', async () => {
    const texts = ['one', '', 'x'.repeat(200_000)]
    await store.put(texts.map(blob))
    for (const text of texts) expect(await read(blob(text).sha256)).toBe(`${text.length} ${text}`)
  })

  it('are removed, unless they were put after the time', async () => {
    const one = blob('removed')
    await store.put([one])
    expect(await store.remove(one.sha256, Date.now() - 3_600_000)).toBe(false)
    expect(await read(one.sha256)).toBe('7 removed')
    // S3 gives times in whole seconds of its own clock.
    expect(await store.remove(one.sha256, Date.now() + 3_600_000)).toBe(true)
    expect(await read(one.sha256)).toBeUndefined()
    expect(await store.remove(one.sha256, 0)).toBe(true)
  })

  it('are not found under any other name', async () => {
    for (const name of [blob('none').sha256, '../../etc/passwd', ''])
      expect(await store.read(name)).toBeUndefined()
    await expect(store.put([{ sha256: '../x', bytes: Buffer.from('x') }])).rejects.toThrow('SHA-256')
  })
}

describe('blobs in files', () => {
  behavesAsBlobStore()

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

  it('replace a file whose bytes have changed, and leave other files as they are', async () => {
    const one = blob('x'.repeat(3 << 20))
    const file = join(dir, 'blobs', one.sha256.slice(0, 2), one.sha256)
    await store.put([one])
    const { ino } = await stat(file)
    await store.put([one])
    expect((await stat(file)).ino).toBe(ino)
    for (const at of [0, one.bytes.length - 1]) {
      await writeFile(file, one.bytes.with(at, 0))
      await store.put([one])
      expect((await readFile(file)).equals(one.bytes)).toBe(true)
    }
  })

  it('that cannot be opened are errors, not missing blobs', async () => {
    const { sha256 } = blob('loop')
    const folder = join(dir, 'blobs', sha256.slice(0, 2))
    await mkdir(folder, { recursive: true })
    await symlink(sha256, join(folder, sha256))
    await expect(store.read(sha256)).rejects.toMatchObject({ code: 'ELOOP' })
  })

  it('whose state cannot be read are neither replaced nor removed', async () => {
    const one = blob('loop')
    const folder = join(dir, 'blobs', one.sha256.slice(0, 2))
    await mkdir(folder, { recursive: true })
    await symlink(one.sha256, join(folder, one.sha256))
    const unavailable = { code: 'store_unavailable', cause: { code: 'ELOOP' } }
    await expect(store.put([one])).rejects.toMatchObject(unavailable)
    await expect(store.remove(one.sha256, Date.now())).rejects.toMatchObject(unavailable)
    expect(await readdir(folder)).toEqual([one.sha256])
  })

  it('that were put are there, when another server that shares the folder removes them meanwhile', async () => {
    const one = blob('x'.repeat(100_000))
    const other = createFileBlobStore(join(dir, 'blobs'))
    const folder = join(dir, 'blobs', one.sha256.slice(0, 2))
    await store.put([one])
    for (let i = 0; i < 100; i++) {
      const hourAgo = new Date(Date.now() - 3_600_000)
      await utimes(join(folder, one.sha256), hourAgo, hourAgo)
      let isPut = false
      const put = store.put([one]).finally(() => {
        isPut = true
      })
      while (!isPut) await other.remove(one.sha256, Date.now() - 1_800_000)
      await put
      expect(await readdir(folder)).toEqual([one.sha256])
    }
  })

  it('that a killed process wrote halfway do not stay', async () => {
    const one = blob('whole')
    const folder = join(dir, 'blobs', one.sha256.slice(0, 2))
    await mkdir(folder, { recursive: true })
    const names = ['old.part', 'old.gone', 'new.part'].map((name, i) => {
      const [age, end] = name.split('.')
      return { name: `${one.sha256}.${i}0000000-0000-4000-8000-000000000000.${end}`, age }
    })
    for (const { name, age } of names) {
      await writeFile(join(folder, name), 'who')
      const time = new Date(Date.now() - (age === 'old' ? 7_200_000 : 0))
      await utimes(join(folder, name), time, time)
    }
    await store.put([one])
    expect((await readdir(folder)).sort()).toEqual([one.sha256, names[2]!.name].sort())
  })

  it('count as put again when another server that shares the folder put them', async () => {
    const one = blob('shared')
    const clock = testClock()
    const other = createFileBlobStore(
      join(dir, 'blobs'),
      testClock(() => NOW + 1_000_000),
    )
    await createFileBlobStore(join(dir, 'blobs'), clock).put([one])
    await other.put([one])
    expect(await store.remove(one.sha256, NOW + 500_000)).toBe(false)
    expect(await store.remove(one.sha256, NOW + 1_500_000)).toBe(true)
  })
})

describe('blobs in S3', () => {
  let s3: TestS3
  let blobs: S3Blobs
  beforeAll(async () => {
    s3 = await startS3()
  })
  afterAll(() => s3.stop())
  beforeEach(async () => {
    store = blobs = await openS3Blobs(s3PlaceOf(s3.url('some/prefix')))
  })
  afterEach(() => blobs.close())
  behavesAsBlobStore()

  it('are in the same bucket for every server, under the prefix alone', async () => {
    const one = blob('everywhere')
    await store.put([one])
    const another = await openS3Blobs(s3PlaceOf(s3.url('some/prefix')))
    const elsewhere = await openS3Blobs(s3PlaceOf(s3.url('other')))
    expect((await another.read(one.sha256))?.size).toBe(10)
    expect(await elsewhere.read(one.sha256)).toBeUndefined()
    await blobs.marked.write('an installation')
    expect([await another.marked.read(), await elsewhere.marked.read()]).toEqual([
      'an installation',
      undefined,
    ])
  })

  it('that cannot be stored or read are errors to try again, not missing blobs', async () => {
    const away = await openS3Blobs(s3PlaceOf(s3.url('x').replace('@weir/', '@no-such-bucket/')))
    const unavailable = expect.objectContaining({ code: 'store_unavailable' })
    await expect(away.put([blob('x')])).rejects.toEqual(unavailable)
    await expect(away.read(blob('x').sha256)).rejects.toEqual(unavailable)
  })
})

describe('BLOB_URL', () => {
  it('names bucket, prefix, region, endpoint and credentials', () => {
    expect(s3PlaceOf('s3://bucket')).toEqual({ bucket: 'bucket', prefix: '' })
    expect(s3PlaceOf('s3://k:a%2Fb@bucket/a/b/?region=eu-west-1&endpoint=http://minio:9000')).toEqual({
      bucket: 'bucket',
      prefix: 'a/b/',
      region: 'eu-west-1',
      endpoint: 'http://minio:9000',
      credentials: { accessKeyId: 'k', secretAccessKey: 'a/b' },
    })
  })
  it.each(['s3:///prefix', 's3://bucket?regoin=eu-west-1', 's3://key@bucket'])('%s is refused', (text) => {
    expect(() => s3PlaceOf(text)).toThrow('BLOB_URL')
  })
})
