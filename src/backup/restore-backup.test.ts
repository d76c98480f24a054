import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { copyDataFiles } from './copied-files.ts'
import { restoreBackup } from './restore-backup.ts'
import type { RestoreTarget, TableLoader } from './stores.ts'
import { type ArchiveWriter, createArchive } from './write-archive.ts'
import { newFolder } from '../../test/support/folder.ts'

const NO_TABLES: TableLoader = {
  assertEmpty: () => Promise.resolve(),
  prepare: () => Promise.resolve(),
  load: () => Promise.reject(new RangeError('there is no table')),
  close: () => Promise.resolve(),
}

/** Writes a backup without tables; returns its folder. */
async function written(write: (archive: ArchiveWriter) => Promise<unknown>): Promise<string> {
  const dir = await newFolder()
  const archive = await createArchive(dir)
  await write(archive)
  const now = new Date().toISOString()
  await archive.finish({
    weir_version: '1',
    installation_id: 'i',
    started_at: now,
    finished_at: now,
    late_since: null,
    versions: { identity: 0, runs: 0, traces: 0 },
  })
  return dir
}

/** Restores a backup without tables; returns the restored DATA_DIR. */
async function restoredFrom(dir: string): Promise<string> {
  const dataDir = await newFolder()
  const target: RestoreTarget = {
    dataDir,
    stores: { identity: NO_TABLES, runs: NO_TABLES, traces: NO_TABLES },
    blobs: { assertEmpty: () => Promise.resolve(), put: () => Promise.resolve() },
    repeatSince: () => Promise.resolve(),
    writeInstallation: () => Promise.resolve(),
  }
  await restoreBackup(() => Promise.resolve(target), { dir, progress: () => undefined })
  return dataDir
}

const restored = async (...given: Parameters<typeof written>): Promise<string> =>
  restoredFrom(await written(...given))

/** A backup of the file `deployments/a` whose list of files has these lines instead. */
async function withList(...lines: string[]): Promise<string> {
  const dir = await written((archive) => archive.file('deployments/a', Readable.from(['x']), 0o600))
  const list = zstdCompressSync(lines.join('\n'))
  await writeFile(join(dir, 'files.jsonl.zst'), list)
  const manifest = JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8')) as { files: object }
  const files = { ...manifest.files, count: lines.length, sha256: sha256Of(list) }
  await writeFile(join(dir, 'manifest.json'), JSON.stringify({ ...manifest, files }))
  return dir
}

function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

describe('a restored backup', () => {
  it('writes nothing outside of DATA_DIR', async () => {
    const outside = await newFolder()
    const link = async (archive: ArchiveWriter): Promise<void> => await archive.link('deployments/b', outside)
    for (const write of [
      async (archive: ArchiveWriter) => {
        await link(archive)
        await archive.link('deployments/b/c/d', 'x')
      },
      (archive: ArchiveWriter) => archive.link('../a', 'x'),
    ])
      await expect(restored(write)).rejects.toMatchObject({ code: 'backup_unusable' })
    await restored(async (archive) => {
      await link(archive)
      await archive.file('deployments/b/c', Readable.from(['x']), 0o600)
    }).catch(() => undefined)
    expect(await readdir(outside)).toEqual([])
  })

  it('of an enemy writes no file on which the server relies, and no link in its place', async () => {
    const file = (path: string) => (archive: ArchiveWriter) => archive.file(path, Readable.from(['x']), 0o600)
    const link = (path: string) => (archive: ArchiveWriter) => archive.link(path, '/tmp')
    const writes = [
      file('weir.db'),
      file('clickhouse/config.xml'),
      link('ingest-log'),
      link('blobs/aa'),
      link('weir.db'),
    ]
    for (const write of [...writes, file('processes/1'), file('deployments')])
      await expect(restored(write)).rejects.toMatchObject({ code: 'backup_unusable' })
  })

  it.each(['manifest.json', 'files.jsonl.zst', 'files/deployments/a'])(
    'of an enemy is not read from a pipe, a device or a link: %s',
    async (path) => {
      const replace = [
        (file: string) => promisify(execFile)('mkfifo', [file]),
        (file: string) => symlink('/dev/zero', file),
        (file: string) => mkdir(file),
      ]
      for (const put of replace) {
        const dir = await written((archive) => archive.file('deployments/a', Readable.from(['x']), 0o600))
        await rm(join(dir, path))
        await put(join(dir, path))
        await expect(restoredFrom(dir)).rejects.toMatchObject({ code: 'backup_unusable' })
      }
    },
  )

  it('of an enemy has a list of files whose every line is checked', async () => {
    const file = { path: 'deployments/a', bytes: 1, sha256: sha256Of('x'), mode: 0o600 }
    const line = JSON.stringify(file)
    await restoredFrom(await withList(line))
    const lines = [
      'null',
      '{',
      '{"path":1}',
      '{"path":"deployments/a"}',
      '{"path":"deployments/b","link":1}',
      JSON.stringify({ ...file, path: 'deployments/a\0b' }),
      JSON.stringify({ ...file, bytes: 2 }),
      JSON.stringify({ ...file, mode: 'x' }),
      JSON.stringify({ ...file, path: 'deployments/missing' }),
      JSON.stringify({ ...file, more: 'x'.repeat(200_000) }),
    ]
    for (const bad of lines)
      await expect(restoredFrom(await withList(bad)), bad.slice(0, 80)).rejects.toMatchObject({
        code: 'backup_unusable',
      })
    const damaged = await withList(line)
    await writeFile(join(damaged, 'files.jsonl.zst'), 'x')
    const manifest = await readFile(join(damaged, 'manifest.json'), 'utf8')
    const list = zstdCompressSync(line)
    await writeFile(join(damaged, 'manifest.json'), manifest.replace(sha256Of(list), sha256Of('x')))
    await expect(restoredFrom(damaged)).rejects.toMatchObject({ code: 'backup_unusable' })
    // The same place twice, and a file below a file.
    for (const second of [line, JSON.stringify({ path: 'deployments/a/b', link: 'x' })])
      await expect(restoredFrom(await withList(line, second))).rejects.toMatchObject({
        code: 'backup_unusable',
      })
  })

  it('has no program that runs as another user', async () => {
    const dataDir = await restored((archive) => archive.file('deployments/a', Readable.from(['x']), 0o104755))
    expect((await stat(join(dataDir, 'deployments/a'))).mode & 0o7000).toBe(0)
  })

  it('has the artifacts of deployments, but not the caches and homes of their users', async () => {
    const source = await newFolder()
    for (const name of ['artifacts', 'cache', 'users']) {
      await mkdir(join(source, 'deployments', name, 'd'), { recursive: true })
      await writeFile(join(source, 'deployments', name, 'd', 'file'), 'x')
    }
    const dataDir = await restored((archive) => copyDataFiles(source, archive))
    expect(await readdir(join(dataDir, 'deployments'), { recursive: true })).toEqual([
      'artifacts',
      'artifacts/d',
      'artifacts/d/file',
    ])
  })

  it('has the keys, also those that DATA_DIR has as links', async () => {
    const source = await newFolder()
    await writeFile(join(source, 'api-key'), 'one')
    await writeFile(join(source, 'mounted'), 'two')
    await symlink('mounted', join(source, 'secrets-key'))
    const dataDir = await restored((archive) => copyDataFiles(source, archive))
    expect(await readFile(join(dataDir, 'api-key'), 'utf8')).toBe('one')
    expect(await readFile(join(dataDir, 'secrets-key'), 'utf8')).toBe('two')
  })
})
