/** The kinds of records that a set-up file can manage. The limits of a workspace are managed if the file names some. */
export type ManagedKind =
  | 'workspace'
  | 'workspace_limits'
  | 'member'
  | 'service_key'
  | 'price'
  | 'feedback_config'

/** Which records a set-up file manages (TEAM-12). */
export interface ManagedRecords {
  /** The ids of the managed records of a kind; of a feedback config, `feedbackConfigId`. */
  ids(organization_id: string, kind: ManagedKind): Promise<ReadonlySet<string>>
  /** Makes these the managed records of the kind, and no others. */
  replace(organization_id: string, kind: ManagedKind, ids: readonly string[]): Promise<void>
}

export function feedbackConfigId(workspace_id: string, feedback_key: string): string {
  return `${workspace_id} ${feedback_key}`
}
