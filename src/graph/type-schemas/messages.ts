/** Message of the server to the process that reads TypeScript types. */
export interface ToTypeHost {
  type: 'open'
  /** Absolute path of the module. */
  file: string
  export: string
  /** Folder with packages for projects that do not have them. */
  packages: string
}

/** A file that was read for the schemas, and the SHA-256 of its content. */
export type ReadFile = [path: string, hash: string]

/** The only message of the process that reads TypeScript types. */
export type FromTypeHost =
  /** Part: JSON text of schemas by namespace. */
  { type: 'types'; files: ReadFile[] } | { type: 'failed'; message: string }
