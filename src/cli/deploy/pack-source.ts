import { createWriteStream } from 'node:fs'
import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import ignore, { type Ignore } from 'ignore'

export interface SourceFile {
  /** Path relative to the project, with `/` between its parts. */
  path: string
  bytes: number
  isExecutable: boolean
}

export interface PackedSource {
  /** The gzipped tar file. */
  file: string
  bytes: number
  files: readonly SourceFile[]
  /** Paths of the symbolic links, which are left out. */
  links: readonly string[]
  remove(): Promise<void>
}

/**
 * Entries that are never part of a source: the server installs dependencies, and `.env` is sent as secrets.
 */
const NEVER = [
  '.git/',
  'node_modules/',
  '.venv/',
  'venv/',
  '__pycache__/',
  '.langgraph_api/',
  '.env',
  '.env.*',
]
const IGNORE_FILES = ['.dockerignore', '.gitignore']
const BLOCK = 512

/** Packs the project in `dir`, without the entries of its .dockerignore and .gitignore, into a temporary file. */
export async function packSource(dir: string): Promise<PackedSource> {
  const rules = ignore().add(NEVER)
  for (const name of IGNORE_FILES) rules.add(await readFile(join(dir, name), 'utf8').catch(() => ''))
  const { files, links } = await listFiles(dir, rules)
  const folder = await mkdtemp(join(tmpdir(), 'weir-source-'))
  const file = join(folder, 'source.tar.gz')
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    await pipeline(Readable.from(tarOf(dir, files)), createGzip(), createWriteStream(file, { mode: 0o600 }))
    const { size: bytes } = await lstat(file)
    return { file, bytes, files, links, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function listFiles(dir: string, rules: Ignore): Promise<Pick<PackedSource, 'files' | 'links'>> {
  const files: SourceFile[] = []
  const links: string[] = []
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(join(dir, folder), { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      const isFolder = entry.isDirectory()
      if (rules.ignores(isFolder ? `${path}/` : path)) continue
      if (isFolder) await visit(path)
      else if (entry.isSymbolicLink()) links.push(path)
      else if (entry.isFile()) {
        const { size: bytes, mode } = await lstat(join(dir, path))
        files.push({ path, bytes, isExecutable: (mode & 0o100) !== 0 })
      }
    }
  }
  await visit('')
  return { files, links }
}

/** A tar file (ustar, with PAX headers for names that ustar cannot have). */
async function* tarOf(dir: string, files: readonly SourceFile[]): AsyncGenerator<Buffer> {
  for (const file of files) {
    // Reads the whole file first, because the size in the header must be that of the content, even if the file changes
    // meanwhile.
    const content = await readFile(join(dir, file.path))
    const mode = file.isExecutable ? 0o755 : 0o644
    if (!isPlain(file.path)) {
      const record = paxRecord('path', file.path)
      yield header({ path: 'PaxHeader', size: record.length, mode, type: 'x' })
      yield padded(record)
    }
    yield header({ path: isPlain(file.path) ? file.path : 'file', size: content.length, mode, type: '0' })
    yield padded(content)
  }
  yield Buffer.alloc(2 * BLOCK)
}

/** Whether a name fits into the field of ustar. */
function isPlain(path: string): boolean {
  return /^[ -~]{1,100}$/.test(path)
}

/** `<length> <key>=<value>\n`, whose length includes itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  let length = bytes + String(bytes).length
  if (bytes + String(length).length !== length) length = bytes + String(length).length
  return Buffer.from(`${length}${rest}`)
}

function header({
  path,
  size,
  mode,
  type,
}: {
  path: string
  size: number
  mode: number
  type: string
}): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, digits: number): void =>
    void block.write(value.toString(8).padStart(digits, '0'), at, 'latin1')
  block.write(path, 0, 100, 'latin1')
  octal(mode, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  octal(size, 124, 11)
  octal(0, 136, 11)
  block.write(`        ${type}`, 148, 'latin1')
  block.write('ustar\u000000', 257, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

function padded(content: Buffer): Buffer {
  const rest = (BLOCK - (content.length % BLOCK)) % BLOCK
  return Buffer.concat([content, Buffer.alloc(rest)])
}
