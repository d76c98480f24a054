import type { ApiKey, IdentityStore } from '../identity/identity-store.ts'
import type { ManagedRecords } from '../identity/managed-records.ts'
import type { FeedbackConfigStore } from '../ingest/feedback/config-store.ts'
import type { PriceStore } from '../ingest/prices/price-store.ts'
import type { SchemaTypes } from '../schema/types.gen.ts'
import type { IngestLimitStore, UsageLimitStore } from '../usage/limits.ts'

/** Where a key is read. */
export interface SecretReference {
  env?: string
  file?: string
}

export interface WantedWorkspace {
  name: string
  retention_days?: number | null
  limits?: SchemaTypes['workspace-limits-write']
}

export interface WantedMember {
  email: string
  full_name?: string
  role: 'admin' | 'operator' | 'user' | 'viewer'
  /** Names of workspaces; absent: all. */
  workspaces?: string[]
}

export interface WantedKey {
  name: string
  role: WantedMember['role']
  workspaces?: string[]
  key: SecretReference
  overlap_hours?: number
}

export interface WantedPrice {
  name: string
  match: string
  provider?: string
  prompt_per_million: number
  completion_per_million: number
  workspaces?: string[]
}

export interface WantedFeedback {
  key: string
  type: 'continuous' | 'categorical' | 'freeform'
  min?: number
  max?: number
  categories?: { value: number; label?: string }[]
  workspaces?: string[]
}

/** A section of a set-up; `prune` deletes what the items do not name. */
export interface Section<Item> {
  items: Item[]
  prune: boolean
}

/** A checked document. Absent sections are not touched. */
export interface Setup {
  workspaces?: Section<WantedWorkspace>
  members?: Section<WantedMember>
  service_keys?: Section<WantedKey>
  prices?: Section<WantedPrice>
  feedback?: Section<WantedFeedback>
}

export type SetupStep = SchemaTypes['setup-step']

/** Compares the organization with SETUP_FILE; nothing changes. @throws AppError store_unavailable */
export type PlanSetupFile = (organization_id: string) => Promise<SchemaTypes['setup-file-plan']>

/** The stores that a set-up changes, all in one transaction. */
export interface SetupStores {
  identity: IdentityStore
  managed: ManagedRecords
  /** Changes a service key in place; `expires_at` in epoch milliseconds. */
  changeKey(id: string, change: Pick<ApiKey, 'role' | 'workspace_ids' | 'expires_at'>): Promise<void>
  retention: RetentionStore
  usageLimits: Pick<UsageLimitStore, 'list' | 'put' | 'remove'>
  ingestLimits: Pick<IngestLimitStore, 'list' | 'put'>
  prices: Pick<PriceStore, 'list' | 'create' | 'replace' | 'remove'>
  feedback: Pick<FeedbackConfigStore, 'list' | 'create' | 'update' | 'delete'>
}

/** Retention of the new projects of workspaces. */
export interface RetentionStore {
  /** Null = that of the server. */
  of(workspace_id: string): Promise<number | null>
  put(workspace_id: string, days: number | null): Promise<void>
}

/** Runs `work` in one transaction, which is rolled back if it rejects; only one runs at a time, over all servers. */
export type InOneTransaction = <T>(
  organization_id: string,
  work: (stores: SetupStores) => Promise<T>,
) => Promise<T>

/** Reads the key of the service key with this name. @throws AppError invalid_request, without the value */
export type ReadSecret = (name: string, reference: SecretReference) => Promise<string>
