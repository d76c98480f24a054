/** An upload that was allowed to a client. */
export interface Upload {
  /** Path of the archive, relative to the folder `sources`. */
  object_path: string
  deployment_id: string
}

export interface UploadedSource {
  sha256: string
  bytes: number
}

export interface UploadStore {
  /** `token_hash`: SHA-256 of the token, in hex. */
  add(upload: Upload & { token_hash: string; expires_at: number }): Promise<void>
  /** Uses up the token and returns its upload; undefined if the token is unknown, used or too old. */
  take(token_hash: string): Promise<Upload | undefined>
  finish(object_path: string, source: UploadedSource): Promise<void>
  /** Deletes the uploads whose source has not arrived, and whose token expired before the time (epoch milliseconds). */
  sweep(before: number): Promise<void>
  /** The source; undefined if the deployment has no such source, or it has not arrived. */
  find(deployment_id: string, object_path: string): Promise<UploadedSource | undefined>
}
