import { createHash } from 'node:crypto'

/**
 * A migration that removes tables or columns of earlier releases has the line `-- contract: N`. It means that programs
 * with fewer than N migrations cannot work with the database. All other migrations only add tables and columns, so that
 * the previous release can work with the database too.
 */
const CONTRACT = /^-- contract: (\d+)$/m

/**
 * The checksum of a migration: the SHA-256 of its text and, after a space, the number in its line `-- contract: N` if
 * it has one. The checksum is recorded when the migration has run.
 */
export function migrationChecksum(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex')
  const oldest = CONTRACT.exec(text)?.[1]
  return oldest === undefined ? hash : `${hash} ${oldest}`
}

/** Whether a program with `known` migrations works with a database that has run further ones. Pure. */
export function worksAfter(further: readonly { checksum: string }[], known: number): boolean {
  return further.every(({ checksum }) => Number(checksum.split(' ')[1] ?? 0) <= known)
}
