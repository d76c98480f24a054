import { createReadStream } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import { readBoundedFile } from '../base/files/bounded-file.ts'
import { createRegistry } from '../schema/registry.ts'
import { type CopiedFile, digestOf, isExpected, LAYOUT, unusable } from './archive.ts'
import { linesOf, wholeLines } from './lines.ts'
import type { Manifest, TableContent } from './stores.ts'

/** A complete backup. */
export interface Archive {
  readonly manifest: Manifest
  /**
   * Reads all files once, and compares them with the manifest. @throws AppError backup_unusable for a missing or
   * changed file
   */
  verify(): Promise<void>
  lines(table: Manifest['tables'][number]): TableContent['lines']
  files(): AsyncIterable<CopiedFile>
  open(path: string): Readable
  copyOf(path: string): string
}

const LINES_BYTES = 64 << 10
const MAX_MANIFEST_BYTES = 16 << 20
/** Maximum bytes of a line in the list of files: two paths. */
const MAX_ENTRY_BYTES = 64 << 10

/** @throws AppError backup_unusable for a folder that has no whole backup, or one of a later format */
export async function openArchive(dir: string): Promise<Archive> {
  const manifest = await readManifest(dir)
  const copyOf = (path: string): string => join(dir, LAYOUT.copies, path)
  const files = async function* (): AsyncGenerator<CopiedFile> {
    const bounds = { size: LINES_BYTES, max_line: MAX_ENTRY_BYTES }
    for await (const piece of wholeLines(decompressed(join(dir, LAYOUT.files)), bounds))
      for (const line of linesOf(piece)) yield entryOf(line)
  }
  return {
    manifest,
    async verify() {
      for (const table of manifest.tables) await verifyFile(join(dir, LAYOUT.table(table)), table)
      await verifyFile(join(dir, LAYOUT.files), manifest.files)
      let count = 0
      for await (const file of files()) {
        count++
        if ('link' in file) continue
        const { bytes } = await verifyFile(copyOf(file.path), file)
        if (bytes !== file.bytes)
          throw unusable(`${file.path} has ${bytes} bytes, and the backup says ${file.bytes}.`)
      }
      if (count !== manifest.files.count)
        throw unusable(`The backup lists ${count} files, and its manifest says ${manifest.files.count}.`)
    },
    lines: (table) => decompressed(join(dir, LAYOUT.table(table))),
    files,
    open: (path) => createReadStream(copyOf(path)),
    copyOf,
  }
}

async function readManifest(dir: string): Promise<Manifest> {
  const path = join(dir, LAYOUT.manifest)
  const content = await readBoundedFile(path, { max_bytes: MAX_MANIFEST_BYTES }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw unusable(`${path} cannot be read.`, error)
      throw unusable(`${dir} has no ${LAYOUT.manifest}, so it is no backup, or one that was not completed.`)
    },
  )
  let value: unknown
  try {
    value = JSON.parse(String(content))
  } catch (cause) {
    throw unusable(`${path} is damaged: it is not valid JSON.`, cause)
  }
  const format = (value as { format?: unknown } | null)?.format
  if (typeof format === 'number' && format > 1)
    throw unusable(`${path} has format ${format}, which a later release wrote. Use that one.`)
  const result = createRegistry().check('backup-manifest', value)
  if (result.ok) return result.value
  const [fault] = result.faults
  throw unusable(`${path} is damaged: ${fault?.path ?? ''} ${fault?.message ?? 'it is not valid'}.`)
}

async function verifyFile(path: string, expected: { sha256: string }): Promise<{ bytes: number }> {
  const unreadable = (cause: unknown): never => {
    throw unusable(`${path} cannot be read.`, cause)
  }
  // Pipes and devices may have no end.
  if (!(await lstat(path).catch(unreadable)).isFile()) throw unusable(`${path} is not a regular file.`)
  const found = await digestOf(path).catch(unreadable)
  if (found.sha256 !== expected.sha256)
    throw unusable(`${path} has changed since the backup was made: its checksum is another one.`)
  return found
}

function decompressed(path: string): Readable {
  const output = createZstdDecompress()
  // The reader of the output gets the error.
  pipeline(createReadStream(path), output, () => undefined)
  return output
}

/** Reads a line of the list of files. */
function entryOf(line: string): CopiedFile {
  let entry: unknown
  try {
    entry = JSON.parse(line)
  } catch (cause) {
    throw unusable('The list of files is damaged: a line is not valid JSON.', cause)
  }
  if (isExpected(entry)) return entry
  throw unusable(`The backup lists a file that no backup has: ${line}`)
}
