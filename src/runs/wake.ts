import type { CancelAction } from './model.ts'

/** What one process tells the others that share its run state. */
export type WakeMessage =
  /** There may be runs to take up. */
  | { kind: 'work' }
  /** Whoever executes the run is to cancel it. */
  | { kind: 'cancel'; deployment_id: string; run_id: string; action: CancelAction }
  /** Whoever waits for the run is to look at it. */
  | { kind: 'ended'; deployment_id: string; run_id: string }
  /** A cancel came before its run (D-47). */
  | { kind: 'early_cancel'; deployment_id: string; thread_id: string; run_id: string; action: CancelAction }
  /** Messages may have been missed: look at everything. */
  | { kind: 'missed' }

/** Pushed word between processes; what is missed is made up for by lease renewal and `missed`. */
export interface Wake {
  /** More than one process may work on this run state. */
  readonly shared: boolean
  /** Tells the others, never this process. Never throws and is not waited for. */
  send(message: WakeMessage): void
  /** Hears what others have sent; replaces the listener before. */
  listen(hear: (message: WakeMessage) => void): void
  close(): Promise<void>
}

/** For run state that only this process works on: nobody to tell. */
export function createLocalWake(): Wake {
  return { shared: false, send: () => undefined, listen: () => undefined, close: async () => undefined }
}
