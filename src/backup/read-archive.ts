import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
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
  /** The copy of a file. */
  open(path: string): Readable
  copyOf(path: string): string
}

const LINES_BYTES = 64 << 10

/** @throws AppError backup_unusable for a folder that has no whole backup, or one of a later format */
export async function openArchive(dir: string): Promise<Archive> {
  const manifest = await readManifest(dir)
  const copyOf = (path: string): string => join(dir, LAYOUT.copies, path)
  const files = async function* (): AsyncGenerator<CopiedFile> {
    for await (const piece of wholeLines(decompressed(join(dir, LAYOUT.files)), LINES_BYTES))
      for (const line of linesOf(piece)) yield checked(JSON.parse(line) as CopiedFile)
  }
  return {
    manifest,
    async verify() {
      for (const table of manifest.tables) await verifyFile(join(dir, LAYOUT.table(table)), table)
      await verifyFile(join(dir, LAYOUT.files), manifest.files)
      let count = 0
      for await (const file of files()) {
        count++
        if ('sha256' in file) await verifyFile(copyOf(file.path), file)
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
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw unusable(`${dir} has no ${LAYOUT.manifest}, so it is no backup, or one that was not completed.`)
  })
  let value: unknown
  try {
    value = JSON.parse(text)
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

async function verifyFile(path: string, expected: { sha256: string }): Promise<void> {
  const found = await digestOf(path).catch((cause: unknown) => {
    throw unusable(`${path} cannot be read.`, cause)
  })
  if (found.sha256 !== expected.sha256)
    throw unusable(`${path} has changed since the backup was made: its checksum is another one.`)
}

function decompressed(path: string): Readable {
  const output = createZstdDecompress()
  // The reader of the output gets the error.
  pipeline(createReadStream(path), output, () => undefined)
  return output
}

function checked(file: CopiedFile): CopiedFile {
  if (isExpected(file)) return file
  throw unusable(`The backup lists a file that no backup has: ${file.path}`)
}
