import { AppError } from '../../base/errors.ts'

export interface TarEntry {
  kind: 'file' | 'folder'
  /** Relative path without `.` and `..`, with `/` between its parts. */
  path: string
  size: number
  isExecutable: boolean
  /** The bytes of a file; must be read to the end before the next entry is read. */
  content: AsyncIterable<Uint8Array>
}

/** The error for an archive that is damaged, or contains entries that sources must not have. */
export function refusedArchive(message: string): AppError {
  return new AppError('source_invalid', { message })
}

const BLOCK = 512
/** Maximum bytes of a header that contains only names of the next entry. */
const MAX_NAMES_BYTES = 64 * 1024
const MAX_SHOWN = 200

const KINDS: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a named pipe',
}

/**
 * Reads the entries of a tar file: ustar, with names in the formats of PAX and GNU. Bytes are read only when an entry
 * is read. @throws AppError source_invalid naming the entry, for links, devices, absolute paths, `..`, and damaged
 * files (P-19)
 */
export async function* tarEntries(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = createReader(bytes)
  let names: { path?: string; size?: number } = {}
  for (let header = await reader.block(); header !== undefined; header = await reader.block()) {
    if (header.every((byte) => byte === 0)) break
    checkSum(header)
    const type = String.fromCharCode(header[156] ?? 0)
    if ('xgLK'.includes(type)) {
      const size = numberAt(header, 124, 12)
      if (size > MAX_NAMES_BYTES) throw refusedArchive('The archive has a name that is too long.')
      const text = await reader.text(size)
      if (type === 'x') names = { ...names, ...paxNames(text) }
      if (type === 'L') names = { ...names, path: text.replace(/\0.*$/s, '') }
      continue
    }
    const entry = readEntry(header, type, names)
    names = {}
    const content = reader.content(entry.size)
    yield { ...entry, content }
    for await (const _rest of content);
    await reader.padding(entry.size)
  }
}

/** PAX records that change the size in the header of the entry. `tar` writes them only for files above 8 GiB. */
const OTHER_SIZE = /(^|\n)\d+ (size|GNU\.sparse[^=]*)=/

/**
 * Reads the sizes of all entries that `tar` would unpack; the size of links, devices and folders is 0.
 * @throws AppError source_invalid for damaged files, and for sparse entries, which unpack to more bytes than the
 * archive has
 */
export async function* tarSizes(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<number> {
  const reader = createReader(bytes)
  for (let header = await reader.block(); header !== undefined; header = await reader.block()) {
    if (header.every((byte) => byte === 0)) break
    checkSum(header)
    const type = String.fromCharCode(header[156] ?? 0)
    const size = numberAt(header, 124, 12)
    if ('xgLK'.includes(type)) {
      if (size > MAX_NAMES_BYTES) throw refusedArchive('The archive has a name that is too long.')
      const text = await reader.text(size)
      if ('xg'.includes(type) && OTHER_SIZE.test(text)) throw refusedArchive(SPARSE)
      continue
    }
    if (type === 'S') throw refusedArchive(SPARSE)
    yield size
    for await (const _rest of reader.content(size));
    await reader.padding(size)
  }
}

const SPARSE = 'The archive has a sparse file, or one of more than 8 GiB.'

function readEntry(
  header: Uint8Array,
  type: string,
  names: { path?: string; size?: number },
): Omit<TarEntry, 'content'> {
  // GNU's own format, which ends this field with a space, has times in place of the prefix.
  const prefix = textAt(header, 257, 6) === 'ustar' ? textAt(header, 345, 155) : ''
  const name = textAt(header, 0, 100)
  const sent = names.path ?? (prefix === '' ? name : `${prefix}/${name}`)
  const shown = JSON.stringify(sent.slice(0, MAX_SHOWN))
  const isPlain = type === '0' || type === '\0'
  // Archives older than ustar mark folders only by their names.
  const isFolder = type === '5' || (isPlain && sent.endsWith('/'))
  if (!isFolder && !isPlain)
    throw refusedArchive(`The archive has ${KINDS[type] ?? `an entry of type ${type}`}: ${shown}.`)
  const path = safePath(sent, shown)
  const isExecutable = (numberAt(header, 100, 8) & 0o100) !== 0
  const size = names.size ?? numberAt(header, 124, 12)
  return { kind: isFolder ? 'folder' : 'file', path, size: isFolder ? 0 : size, isExecutable }
}

function safePath(sent: string, shown: string): string {
  if (sent.startsWith('/')) throw refusedArchive(`The archive has an absolute path: ${shown}.`)
  if (sent.includes('\0')) throw refusedArchive(`The archive has a path with NUL: ${shown}.`)
  const parts = sent.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw refusedArchive(`The archive has a path with "..": ${shown}.`)
  if (parts.some((part) => Buffer.byteLength(part) > 255))
    throw refusedArchive(`The archive has a name of more than 255 bytes: ${shown}.`)
  return parts.join('/')
}

/** Records `<length> <key>=<value>\n`, whose length includes itself. */
function paxNames(text: string): { path?: string; size?: number } {
  const bytes = Buffer.from(text)
  const names: { path?: string; size?: number } = {}
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const length = Number(bytes.toString('latin1', at, space))
    if (space < 0 || !Number.isInteger(length) || length <= space - at || at + length > bytes.length)
      throw refusedArchive('The archive has a damaged PAX header.')
    const record = bytes.toString('utf8', space + 1, at + length - 1)
    const [key] = record.split('=', 1)
    const value = record.slice((key ?? '').length + 1)
    if (key?.startsWith('GNU.sparse')) throw refusedArchive(SPARSE)
    if (key === 'path') names.path = value
    if (key === 'size') names.size = checkedSize(Number(value))
    at += length
  }
  return names
}

function checkSum(header: Uint8Array): void {
  const expected = numberAt(header, 148, 8)
  const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0)
  if (sum !== expected) throw refusedArchive('The archive is damaged: a checksum is wrong.')
}

function textAt(header: Uint8Array, at: number, length: number): string {
  const field = Buffer.from(header.subarray(at, at + length))
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end)
}

/** Reads a number, which is octal or, if the highest bit is set, binary. */
function numberAt(header: Uint8Array, at: number, length: number): number {
  const field = header.subarray(at, at + length)
  if (((field[0] ?? 0) & 0x80) !== 0)
    return checkedSize(field.subarray(1).reduce((value, byte) => value * 256 + byte, (field[0] ?? 0) & 0x7f))
  const text = textAt(header, at, length).trim()
  if (!/^[0-7]*$/.test(text)) throw refusedArchive('The archive is damaged: a number is wrong.')
  return text === '' ? 0 : checkedSize(Number.parseInt(text, 8))
}

function checkedSize(size: number): number {
  if (!Number.isSafeInteger(size) || size < 0)
    throw refusedArchive('The archive is damaged: a size is wrong.')
  return size
}

/** Reads exact numbers of bytes from chunks of any size. */
function createReader(bytes: AsyncIterable<Uint8Array>) {
  const source = bytes[Symbol.asyncIterator]()
  let rest: Uint8Array = new Uint8Array(0)

  /** Reads at most `size` bytes; empty at the end. */
  const some = async (size: number): Promise<Uint8Array> => {
    while (rest.length === 0) {
      const next = await source.next()
      if (next.done === true) return rest
      rest = next.value
    }
    const part = rest.subarray(0, size)
    rest = rest.subarray(part.length)
    return part
  }
  async function* content(size: number): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0; ) {
      const part = await some(left)
      if (part.length === 0) throw refusedArchive('The archive is cut short.')
      left -= part.length
      yield part
    }
  }
  const whole = async (size: number): Promise<Buffer> => {
    const parts: Uint8Array[] = []
    for await (const part of content(size)) parts.push(part)
    return Buffer.concat(parts)
  }
  const padding = async (size: number): Promise<void> => {
    await whole((BLOCK - (size % BLOCK)) % BLOCK)
  }
  return {
    content,
    padding,
    /** Reads a block; undefined at the end. */
    async block(): Promise<Uint8Array | undefined> {
      const first = await some(BLOCK)
      if (first.length === 0) return undefined
      return first.length === BLOCK ? first : Buffer.concat([first, await whole(BLOCK - first.length)])
    },
    async text(size: number): Promise<string> {
      const text = (await whole(size)).toString('utf8')
      await padding(size)
      return text
    },
  }
}
