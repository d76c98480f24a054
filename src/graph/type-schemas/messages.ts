import { type HeadChecks, isText, isTexts } from '../pool/heads.ts'

/** Message of the server to the process that reads TypeScript types. */
export interface ToTypeHost {
  type: 'open'
  /** Absolute path of the module. */
  file: string
  export: string
  /** Folder with packages for projects that do not have them. */
  packages: string
}

/** Maximum bytes of the schemas of a graph; larger ones are an error. */
export const MAX_SCHEMA_BYTES: number = 8 << 20

/** A file that was read for the schemas, and the SHA-256 of its content. */
export type ReadFile = [path: string, hash: string]

/** The only message of the process that reads TypeScript types. */
export type FromTypeHost =
  /** Part: JSON text of schemas by namespace. */
  { type: 'types'; files: ReadFile[] } | { type: 'failed'; message: string }

const isFile = (value: unknown): boolean => isTexts(value) && (value as string[]).length === 2

export const FROM_TYPE_HOST_HEADS: HeadChecks = {
  types: { files: (value) => Array.isArray(value) && value.every(isFile) },
  failed: { message: isText },
}
