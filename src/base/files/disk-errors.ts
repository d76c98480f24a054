import { AppError } from '../errors.ts'

/** Error codes for a disk that refuses writes. */
export type DiskErrorCode = 'disk_full' | 'disk_unwritable'

const CODES: Readonly<Record<string, DiskErrorCode>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EROFS: 'disk_unwritable',
}

/** The code for a failed write; undefined if the disk is not the cause. */
export function diskErrorCode(cause: unknown): DiskErrorCode | undefined {
  return CODES[String((cause as { code?: unknown } | undefined)?.code)]
}

/** Converts a failed write to an AppError `disk_full` or `disk_unwritable`; undefined if the disk is not the cause. */
export function toDiskError(cause: unknown, details?: unknown): AppError | undefined {
  const code = diskErrorCode(cause)
  return code && new AppError(code, { details, cause })
}
