import type { PriceEntry } from '../trace/price/price-book.ts'

/** What a caller says of an own price. */
export type PriceFields = Omit<PriceEntry, 'id' | 'workspace_id'>

/** The own prices of all workspaces. */
export interface PriceSnapshot {
  /** Changes whenever the entries do; means something within this process only. */
  version: number
  entries: readonly PriceEntry[]
}

/** Own prices by workspace. */
export interface PriceStore {
  /** All entries as of now; up to five seconds ago for what another process changed. */
  snapshot(): Promise<PriceSnapshot>
  /** By name, then oldest first. */
  list(workspace_id: string): Promise<PriceEntry[]>
  /** @throws AppError conflict when an entry counts under the same conditions, or there are too many */
  create(workspace_id: string, fields: PriceFields): Promise<PriceEntry>
  /**
   * Puts new fields in place of all old ones; undefined if there is no such entry.
   * @throws AppError conflict when another entry counts under the same conditions
   */
  replace(workspace_id: string, id: string, fields: PriceFields): Promise<PriceEntry | undefined>
  /** True if there was such an entry. */
  remove(workspace_id: string, id: string): Promise<boolean>
}
