import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { sep } from 'node:path'

/** Limits of reading a file that untrusted code may have written. */
export interface FileBounds {
  /** Maximum bytes of the file. */
  max_bytes: number
  /** The folder that the file must not leave through links; default: the file may be anywhere. */
  within?: string
}

/** Why a file was not read. */
export type FileFault = 'not_regular' | 'too_large' | 'too_deep' | 'outside'

const REASONS: Readonly<Record<FileFault, (bounds: FileBounds) => string>> = {
  not_regular: () => 'is not a regular file',
  too_large: ({ max_bytes }) => `has more than ${max_bytes} bytes`,
  too_deep: () => 'is nested too deep',
  outside: () => 'is a link that leads out of the project',
}

/** The error for a file that exists and was not read; the message continues a sentence that begins with its name. */
export class UnsuitableFileError extends Error {
  readonly fault: FileFault

  constructor(fault: FileFault, bounds: FileBounds) {
    super(REASONS[fault](bounds))
    this.name = 'UnsuitableFileError'
    this.fault = fault
  }
}

/**
 * A pipe without a writer would block a thread of the server for ever, and the path of a terminal could become the
 * server's own.
 */
const CAREFUL = constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * Reads a file that untrusted code may have written. Only a regular file is read, and never more bytes than allowed,
 * also when the file grows meanwhile. @throws UnsuitableFileError; the error of the file system, such as ENOENT
 */
export function readBoundedFile(path: string, bounds: FileBounds): Promise<Buffer> {
  return withFile(path, constants.O_RDONLY, bounds, (file, size) => readAll(file, size, bounds))
}

/**
 * Replaces the content of a file that untrusted code may have written by `change(content)`, unless that is undefined.
 * Leaves out links, other kinds of files, and larger files.
 */
export async function changeBoundedFile(
  path: string,
  bounds: FileBounds,
  change: (content: Buffer) => string | undefined,
): Promise<void> {
  try {
    await withFile(path, constants.O_RDWR | constants.O_NOFOLLOW, bounds, async (file, size) => {
      const changed = change(await readAll(file, size, bounds))
      if (changed === undefined) return
      await file.truncate()
      await file.writeFile(changed)
    })
  } catch (error) {
    if (!(error instanceof UnsuitableFileError) && !isUnopened(error)) throw error
  }
}

/** Whether `open` refused the file: a link, a folder, or one that the server must not write. */
function isUnopened(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException
  return ['ELOOP', 'EMLINK', 'EISDIR', 'ENOENT', 'ENOTDIR', 'EACCES', 'ETXTBSY'].includes(code)
}

async function withFile<T>(
  path: string,
  flags: number,
  bounds: FileBounds,
  use: (file: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  if (bounds.within !== undefined) await assertWithin(path, bounds.within, bounds)
  const file = await open(path, flags | CAREFUL).catch((error: NodeJS.ErrnoException) => {
    // Sockets, and devices without a driver, cannot be opened.
    if (error.code === 'ENXIO' || error.code === 'ENODEV')
      throw new UnsuitableFileError('not_regular', bounds)
    throw error
  })
  try {
    const found = await file.stat()
    if (found.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' })
    if (!found.isFile()) throw new UnsuitableFileError('not_regular', bounds)
    if (found.size > bounds.max_bytes) throw new UnsuitableFileError('too_large', bounds)
    return await use(file, found.size)
  } finally {
    await file.close()
  }
}

async function assertWithin(path: string, folder: string, bounds: FileBounds): Promise<void> {
  const [file, root] = [await realpath(path), await realpath(folder)]
  if (!file.startsWith(root + sep)) throw new UnsuitableFileError('outside', bounds)
}

/** Reads to the end of the file, which may have grown since its `size` was read. */
async function readAll(file: FileHandle, size: number, bounds: FileBounds): Promise<Buffer> {
  let content: Buffer = Buffer.allocUnsafe(size + 1)
  for (let length = 0; ; ) {
    const { bytesRead } = await file.read(content, length, content.length - length, length)
    if (bytesRead === 0) return content.subarray(0, length)
    length += bytesRead
    if (length > bounds.max_bytes) throw new UnsuitableFileError('too_large', bounds)
    if (length === content.length)
      content = Buffer.concat([content], Math.min(2 * length, bounds.max_bytes + 1))
  }
}
