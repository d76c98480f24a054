import type { DiskErrorCode } from '../../base/files/disk-errors.ts'

export interface DiskState {
  /** Bytes that this process may still write. */
  free_bytes: number
  size_bytes: number
  /** Free space below which the disk counts as full. */
  min_free_bytes: number
  /** Why the disk is not writable; null if it is writable. */
  problem: { code: DiskErrorCode; detail: string } | null
}

/** The disk of DATA_DIR, which is checked periodically. */
export interface DataDisk {
  state(): DiskState
  /** Checks the disk, unless it was checked within the last second. Takes at most two seconds; never rejects. */
  look(): Promise<DiskState>
  /** Like `look`. @throws AppError `disk_full` or `disk_unwritable` when the disk is not writable */
  check(): Promise<void>
  /**
   * The check before work that needs disk space later. Returns at once if the last check found the disk writable;
   * otherwise does the same as `check`.
   * @throws AppError `disk_full` or `disk_unwritable`
   */
  assertRoom(): Promise<void>
  stop(): Promise<void>
}
