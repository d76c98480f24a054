import type { Readable } from 'node:stream'
import type { Blob } from '../trace/decoded.ts'

/** Attachment bytes by the SHA-256 of their content, so that the same bytes are kept once (D-18). */
export interface BlobStore {
  /** Resolves when every blob is durable. Putting what is there already changes nothing. */
  put(blobs: readonly Blob[]): Promise<void>
  /** The bytes from the start; undefined if there are none under this name. `sha256` in hex. */
  read(sha256: string): Promise<{ size: number; bytes: Readable } | undefined>
}
