/** Who a request acts for, resolved from its key and headers. */
export interface Principal {
  organization_id: string
  /** The workspace that the request reads and writes. */
  workspace_id: string
  /** Null for a service key. */
  user_id: string | null
  api_key_id: string
  /** E.g. `lsv2...abcd`; safe to log and show. */
  short_key: string
  /** Every workspace that the key may use, `workspace_id` among them. */
  workspace_ids: readonly string[]
}

/** What a key may do, before a request has named its workspace. */
export interface KeyGrant {
  organization_id: string
  user_id: string | null
  api_key_id: string
  short_key: string
  /** Every workspace that the key may use, now. */
  workspace_ids: readonly string[]
  /** Where requests go that name no workspace; null when they must name one. */
  default_workspace_id: string | null
  /** Epoch milliseconds; null = never. */
  expires_at: number | null
}
