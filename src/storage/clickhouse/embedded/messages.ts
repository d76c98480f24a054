/** Parent → child: what to open. Sent over the IPC channel, so that process lists do not show the password. */
export interface OpenEngine {
  readonly type: 'open'
  readonly path: string
  readonly port: number
  readonly password: string
  readonly memory: { readonly total: number; readonly perQuery: number }
}

/** Parent → child: finish running statements, close the engine, exit with 0. */
export interface StopMessage {
  readonly type: 'stop'
}

/** Child → parent, once. `installed` is false when there is no engine for this platform. */
export type ChildAnswer =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'failed'; readonly installed: boolean; readonly message: string }
