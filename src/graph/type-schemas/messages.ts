import { type HeadChecks, isId, isText, isTexts } from '../pool/heads.ts'

/** A graph: an export of a module. */
export interface TypedGraph {
  /** Absolute path of the module. */
  file: string
  export: string
}

/** Message of the server to the process that reads TypeScript types. */
export interface ToTypeHost {
  type: 'open'
  /** The first one is read alone; the others afterwards, all at once. */
  graphs: TypedGraph[]
  /** Folder with packages for projects that do not have them. */
  packages: string
}

/** Maximum bytes of the schemas of a graph; larger ones are an error. */
export const MAX_SCHEMA_BYTES: number = 8 << 20

/** A file that was read for the schemas, and the SHA-256 of its content. */
export type ReadFile = [path: string, hash: string]

/** Messages of the process that reads TypeScript types. It ends when it has read all graphs. */
export type FromTypeHost =
  /** The schemas of graph number `graph`, counted from 0. Part: JSON text of schemas by namespace. */
  | { type: 'types'; graph: number; files: ReadFile[] }
  /** Graphs without an earlier message could not be read. */
  | { type: 'failed'; message: string }

const isFile = (value: unknown): boolean => isTexts(value) && (value as string[]).length === 2

export const FROM_TYPE_HOST_HEADS: HeadChecks = {
  types: { graph: isId, files: (value) => Array.isArray(value) && value.every(isFile) },
  failed: { message: isText },
}
