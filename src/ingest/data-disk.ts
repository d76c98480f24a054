import type { DiskErrorCode } from '../base/disk-errors.ts'

/** What was seen of the disk when it was last looked at. */
export interface DiskState {
  /** Free for this process, in bytes. */
  free_bytes: number
  size_bytes: number
  /** Below this much the disk counts as full. */
  min_free_bytes: number
  /** Why it takes no writes; null when it does. */
  problem: { code: DiskErrorCode; detail: string } | null
}

/** The disk of DATA_DIR, which is looked at again and again. */
export interface DataDisk {
  state(): DiskState
  /** Looks now, unless it did so within the last second; never rejects, and takes two seconds at most. */
  look(): Promise<DiskState>
  /** Looks as `look` does. @throws AppError `disk_full` or `disk_unwritable` when the disk takes no writes */
  check(): Promise<void>
  stop(): Promise<void>
}
