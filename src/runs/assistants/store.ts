import type { JsonObject } from '../../schema/json.ts'
import type { Tenant } from '../model.ts'
import type { Visible } from '../run-store.ts'

/** A graph with a configuration of its own; times are epoch milliseconds. */
export interface Assistant {
  assistant_id: string
  graph_id: string
  /** The current version; versions count from 1. */
  version: number
  name: string
  description: string | null
  config: JsonObject
  context: JsonObject
  metadata: JsonObject
  created_at: number
  updated_at: number
}

/** An assistant to create, at version 1. */
export type NewAssistant = Omit<Assistant, 'version' | 'created_at' | 'updated_at'>

/** The fields that change in a new version; metadata is merged shallowly. */
export type AssistantChange = Partial<Omit<NewAssistant, 'assistant_id'>>

/** A search for assistants. It returns one page. */
export interface AssistantSearch {
  graph_id?: string | undefined
  /** A part of the name, compared without regard to case. */
  name?: string | undefined
  /** Keys and values that the metadata must contain. */
  metadata?: JsonObject | undefined
  /** Only assistants whose metadata satisfy this condition; default: all. */
  visible?: Visible | undefined
  sort_by: 'assistant_id' | 'graph_id' | 'name' | 'created_at' | 'updated_at'
  sort_order: 'asc' | 'desc'
  /** 0 to get only the count. */
  limit: number
  offset: number
  /** Maximum bytes of text of a page. A page that would be larger ends early. Default 32 MB. */
  max_bytes?: number | undefined
}

export interface AssistantStore {
  /**
   * Creates missing assistants. An existing assistant that no client has changed gets the new description, config and
   * context, without a new version. Other assistants stay unchanged.
   */
  ensure(tenant: Tenant, assistants: readonly NewAssistant[]): Promise<void>
  /** `exists`: the id is taken by the returned assistant. */
  create(
    tenant: Tenant,
    assistant: NewAssistant,
  ): Promise<{ kind: 'created' | 'exists'; assistant: Assistant }>
  get(tenant: Tenant, assistant_id: string): Promise<Assistant | undefined>
  /** Creates a new version and makes it current. */
  update(tenant: Tenant, assistant_id: string, change: AssistantChange): Promise<Assistant | undefined>
  /** Makes a version current. Returns undefined if there is no such assistant or version. */
  setLatest(tenant: Tenant, assistant_id: string, version: number): Promise<Assistant | undefined>
  /**
   * Versions of an assistant, newest first, as many as fit into `max_bytes` (default 32 MB). `more` is true if the page
   * is not the last. Undefined when there is no such assistant.
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
  /** Returns whether it existed. */
  remove(tenant: Tenant, assistant_id: string): Promise<boolean>
  /** `total` is the number of all matches. */
  search(tenant: Tenant, search: AssistantSearch): Promise<{ assistants: Assistant[]; total: number }>
}
