import type { PriceEntry } from '../../trace/price/book.ts'

/** The fields of an own price that callers set. */
export type PriceFields = Omit<PriceEntry, 'id' | 'workspace_id'>

/** The own prices of all workspaces. */
export interface PriceSnapshot {
  /** Changes whenever the entries change; comparable only within this process. */
  version: number
  entries: readonly PriceEntry[]
}

export interface PriceStore {
  /** All current entries. Changes by another process may be missing for up to five seconds. */
  snapshot(): Promise<PriceSnapshot>
  /** Prices of a workspace, by name and then oldest first. */
  list(workspace_id: string): Promise<PriceEntry[]>
  /** @throws AppError conflict when an entry has the same conditions, or there are too many */
  create(workspace_id: string, fields: PriceFields): Promise<PriceEntry>
  /**
   * Replaces all fields of an entry; undefined if there is no such entry. @throws AppError conflict when another entry
   * has the same conditions
   */
  replace(workspace_id: string, id: string, fields: PriceFields): Promise<PriceEntry | undefined>
  /** Returns whether there was such an entry. */
  remove(workspace_id: string, id: string): Promise<boolean>
}
