import type { Readable } from 'node:stream'
import type { Blob } from '../../trace/decode/decoded.ts'

/** Attachment bytes by the SHA-256 of their content, so that equal bytes are stored once (D-18). */
export interface BlobStore {
  /**
   * Stores blobs; resolves when all are durable. Of a blob that is stored whole only the time of its last put is renewed;
   * a damaged one is replaced.
   */
  put(blobs: readonly Blob[]): Promise<void>
  /** The bytes from the start; undefined if there is no blob with this hash. `sha256` in hex. */
  read(sha256: string): Promise<{ size: number; bytes: Readable } | undefined>
  /**
   * Removes the bytes, unless they were put after the time `until` (epoch milliseconds); returns whether they were
   * removed. The caller must have checked that no TraceRun stored before that time refers to them.
   */
  remove(sha256: string, until: number): Promise<boolean>
}

export interface ListedBlobStore extends BlobStore {
  /** The SHA-256 of every blob, in hex. Blobs that are put or removed meanwhile may be missing. */
  list(): AsyncIterable<string>
}
