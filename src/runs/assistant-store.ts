import type { JsonObject } from '../schema/json.ts'
import type { Tenant } from './model.ts'
import type { Visible } from './run-store.ts'

/** A graph with a configuration of its own; times are epoch milliseconds. */
export interface Assistant {
  assistant_id: string
  graph_id: string
  /** The version that it is at; versions count from 1. */
  version: number
  name: string
  description: string | null
  config: JsonObject
  context: JsonObject
  metadata: JsonObject
  created_at: number
  updated_at: number
}

/** An assistant to be made, at version 1. */
export type NewAssistant = Omit<Assistant, 'version' | 'created_at' | 'updated_at'>

/** What a new version has that is different; metadata is merged shallowly. */
export type AssistantChange = Partial<Omit<NewAssistant, 'assistant_id'>>

/** A page of assistants. */
export interface AssistantSearch {
  graph_id?: string | undefined
  /** Part of the name, in any case. */
  name?: string | undefined
  /** What the metadata must contain. */
  metadata?: JsonObject | undefined
  /** Only these. */
  visible?: Visible | undefined
  sort_by: 'assistant_id' | 'graph_id' | 'name' | 'created_at' | 'updated_at'
  sort_order: 'asc' | 'desc'
  /** 0 only counts. */
  limit: number
  offset: number
  /** Of texts that are read; the page is shorter then. Default 32 MB. */
  max_bytes?: number | undefined
}

/** Assistants of tenants and their versions. */
export interface AssistantStore {
  /**
   * Makes those that are not there yet. One that nobody has changed since takes over description, config and context
   * without a new version; others are left as they are.
   */
  ensure(tenant: Tenant, assistants: readonly NewAssistant[]): Promise<void>
  /** `exists` with the assistant that has the id already. */
  create(
    tenant: Tenant,
    assistant: NewAssistant,
  ): Promise<{ kind: 'created' | 'exists'; assistant: Assistant }>
  get(tenant: Tenant, assistant_id: string): Promise<Assistant | undefined>
  /** Makes a new version and goes to it. */
  update(tenant: Tenant, assistant_id: string, change: AssistantChange): Promise<Assistant | undefined>
  /** Goes to a version; undefined when there is no such assistant or version. */
  setLatest(tenant: Tenant, assistant_id: string, version: number): Promise<Assistant | undefined>
  /**
   * Newest first, each as the assistant was at it, as many as fit into `max_bytes` (default 32 MB); `more` when others
   * follow behind the page. Undefined when there is no such assistant.
   */
  versions(
    tenant: Tenant,
    assistant_id: string,
    page: {
      metadata?: JsonObject | undefined
      limit: number
      offset: number
      max_bytes?: number | undefined
    },
  ): Promise<{ versions: Assistant[]; more: boolean } | undefined>
  /** Whether it was there. */
  remove(tenant: Tenant, assistant_id: string): Promise<boolean>
  /** `total` counts all that match. */
  search(tenant: Tenant, search: AssistantSearch): Promise<{ assistants: Assistant[]; total: number }>
}
