/** From the server to the process that reads TypeScript types. */
export interface ToTypeHost {
  type: 'open'
  /** Absolute path of the module. */
  file: string
  export: string
  /** Folder of the packages that a project without its own uses. */
  packages: string
}

/** A file that an answer depends on, and the SHA-256 of its content. */
export type ReadFile = [path: string, hash: string]

/** And back: once, and then nothing more. */
export type FromTypeHost =
  /** Part: JSON text of schemas by namespace. */
  { type: 'types'; files: ReadFile[] } | { type: 'failed'; message: string }
