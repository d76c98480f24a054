import type { Readable } from 'node:stream'
import type { SchemaTypes } from '../schema/types.gen.ts'

/** The file `manifest.json` of a backup. */
export type Manifest = SchemaTypes['backup-manifest']
/** A store of tables; its name is that of its folder in the backup. */
export type StoreName = Manifest['tables'][number]['store']

/** A table while it is read: `lines` are whole lines, one for each row, in pieces of any size. */
export interface TableContent {
  columns: readonly string[]
  lines: AsyncIterable<Uint8Array>
}

export interface TableReader {
  /** The number of the newest migration; 0 for a store that does not exist. */
  readonly version: number
  /** Tables in the order in which they must be read and restored. */
  readonly tables: readonly string[]
  read(table: string): Promise<TableContent>
  close(): Promise<void>
}

/** A store without tables, into which a backup is restored. */
export interface TableLoader {
  /** @throws AppError store_not_empty */
  assertEmpty(): Promise<void>
  /** Creates the tables of this version. @throws AppError backup_unusable for a version of a later release */
  prepare(version: number): Promise<void>
  /** Resolves with the number of rows that were inserted. Each piece has whole lines. */
  load(table: string, columns: readonly string[], pieces: AsyncIterable<Buffer>): Promise<number>
  close(): Promise<void>
}

/** Attachments by the SHA-256 of their bytes. */
export interface BlobReader {
  list(): AsyncIterable<string>
  read(sha256: string): Promise<{ bytes: Readable } | undefined>
}

export interface BackupSource {
  installation_id(): Promise<string>
  /** The servers that may write during the backup: none, the one of `dataDir`, or also others. */
  readonly writers: 'none' | 'one' | 'several'
  readonly dataDir: string
  traces: TableReader
  /** Opens both SQL stores as of the same moment. */
  openSql(): Promise<{ identity: TableReader; runs: TableReader }>
  blobs: BlobReader
}

export interface RestoreTarget {
  readonly dataDir: string
  readonly stores: Readonly<Record<StoreName, TableLoader>>
  blobs: {
    /** @throws AppError store_not_empty */
    assertEmpty(): Promise<void>
    put(blobs: readonly { sha256: string; bytes: Uint8Array }[]): Promise<void>
  }
  /**
   * Repeats the changes during the backup: stores traces that were received since `time` again, and repeats deletions
   * and repricings that ended since then.
   */
  repeatSince(time: Date): Promise<void>
  writeInstallation(id: string): Promise<void>
}
