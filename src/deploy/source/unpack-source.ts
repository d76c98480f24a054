import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { toDiskError } from '../../base/files/disk-errors.ts'
import { refusedArchive, type TarEntry, tarEntries, tarSizes } from './tar-entries.ts'

export interface SourceLimits {
  max_files: number
  max_bytes: number
}

/** The limits of P-19. */
export const SOURCE_LIMITS: SourceLimits = { max_files: 50_000, max_bytes: 1024 ** 3 }

/** Maximum bytes of headers, names and padding for an entry. */
const BYTES_PER_ENTRY = 4096

/** What a thread unpacks: a gzipped tar file, into an empty folder. */
export interface SourceTask {
  file: string
  dir: string
}

/** The size of an unpacked archive. */
export interface UnpackedSource {
  files: number
  bytes: number
}

/**
 * Unpacks a gzipped tar file into `dir`, which must exist and be empty. After an error, files that were already written
 * stay there.
 * @throws AppError source_invalid naming the entry that is refused (P-19)
 */
export async function unpackSource(
  file: string,
  dir: string,
  limits: SourceLimits = SOURCE_LIMITS,
): Promise<UnpackedSource> {
  const unpacked: UnpackedSource = { files: 0, bytes: 0 }
  const unpack = async (bytes: AsyncIterable<Uint8Array>): Promise<void> => {
    const bounded = limited(bytes, limits)
    for await (const entry of tarEntries(bounded)) {
      count(unpacked, entry, limits)
      await write(entry, dir)
    }
    // Bytes after the last entry are read too, which finds a truncated gzip stream.
    for await (const _rest of bounded);
  }
  try {
    await pipeline(createReadStream(file), createGunzip(), unpack)
  } catch (error) {
    throw isDamagedGzip(error)
      ? refusedArchive('The archive is not a gzip file, or cut short.')
      : (toDiskError(error) ?? error)
  }
  if (unpacked.files === 0) throw refusedArchive('The archive has no files.')
  return unpacked
}

/**
 * Reads a gzipped tar file to its end without unpacking it. @throws AppError source_invalid when it is damaged, or would
 * unpack to more than `limits`
 */
export async function assertUnpacksWithin(file: string, limits: SourceLimits): Promise<void> {
  const read: UnpackedSource = { files: 0, bytes: 0 }
  const measure = async (bytes: AsyncIterable<Uint8Array>): Promise<void> => {
    const bounded = limited(bytes, limits)
    for await (const size of tarSizes(bounded)) count(read, { kind: 'file', path: file, size }, limits)
    for await (const _rest of bounded);
  }
  try {
    await pipeline(createReadStream(file), createGunzip(), measure)
  } catch (error) {
    throw isDamagedGzip(error) ? refusedArchive('The archive is not a gzip file, or cut short.') : error
  }
}

/** Limits all bytes, including headers and padding, so that an archive without entries cannot keep the reader busy. */
async function* limited(bytes: AsyncIterable<Uint8Array>, limits: SourceLimits) {
  let left = limits.max_bytes + limits.max_files * BYTES_PER_ENTRY
  for await (const part of bytes) {
    left -= part.length
    if (left < 0) throw refusedArchive('The archive unpacks to more than is allowed.')
    yield part
  }
}

function count(
  unpacked: UnpackedSource,
  { kind, path, size }: Pick<TarEntry, 'kind' | 'path' | 'size'>,
  limits: SourceLimits,
): void {
  unpacked.files += 1
  unpacked.bytes += kind === 'file' ? size : 0
  if (unpacked.files > limits.max_files)
    throw refusedArchive(`The archive has more than ${limits.max_files} files and folders.`)
  if (unpacked.bytes > limits.max_bytes)
    throw refusedArchive(
      `The archive unpacks to more than ${limits.max_bytes} bytes: ${JSON.stringify(path)}.`,
    )
}

async function write({ kind, path, isExecutable, content }: TarEntry, dir: string): Promise<void> {
  const target = join(dir, path)
  try {
    if (kind === 'folder') return void (await mkdir(target, { recursive: true }))
    await mkdir(dirname(target), { recursive: true })
    const file = await open(target, 'wx', isExecutable ? 0o755 : 0o644)
    try {
      for await (const part of content) await file.writeFile(part)
    } finally {
      await file.close()
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (['EEXIST', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'].includes(code ?? ''))
      throw refusedArchive(`The archive has a path twice, or one that is too long: ${JSON.stringify(path)}.`)
    throw error
  }
}

function isDamagedGzip(error: unknown): boolean {
  return /^(Z_|ERR_STREAM_PREMATURE_CLOSE)/.test(String((error as NodeJS.ErrnoException | null)?.code))
}
