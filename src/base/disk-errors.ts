import { AppError } from './errors.ts'

/** What a disk that takes no writes is told by. */
export type DiskErrorCode = 'disk_full' | 'disk_unwritable'

const CODES: Readonly<Record<string, DiskErrorCode>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EROFS: 'disk_unwritable',
}

/** What a failed write says of the disk; undefined when it says nothing of it. */
export function diskErrorCode(cause: unknown): DiskErrorCode | undefined {
  return CODES[String((cause as { code?: unknown } | undefined)?.code)]
}

/** A failed write as `disk_full` or `disk_unwritable`; undefined when it says nothing of the disk. */
export function toDiskError(cause: unknown, details?: unknown): AppError | undefined {
  const code = diskErrorCode(cause)
  return code && new AppError(code, { details, cause })
}
