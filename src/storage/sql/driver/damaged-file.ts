import { basename } from 'node:path'

/**
 * The error for a SQLite file that cannot be read. The message contains the path, so it must not be sent to clients.
 */
export class DamagedFile extends Error {
  constructor(file: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be read'
    const name = basename(file)
    super(
      `${file} is damaged (${reason}). Stop the server, move the file and those named ${name}-wal and ${name}-shm away, and restore the file from a backup; .recover of sqlite3 may restore the readable part of it.`,
      { cause },
    )
    this.name = 'DamagedFile'
  }
}
