import type { CancelAction } from '../model.ts'

/** Notifications between processes that share their run state. */
export type WakeMessage =
  /** There may be runs to claim. */
  | { kind: 'work' }
  /** The process that executes the run must cancel it. */
  | { kind: 'cancel'; deployment_id: string; run_id: string; action: CancelAction }
  /** The run has ended. Processes that wait for it must read its outcome. */
  | { kind: 'ended'; deployment_id: string; run_id: string }
  /** A cancel arrived before its run (D-47). */
  | { kind: 'early_cancel'; deployment_id: string; thread_id: string; run_id: string; action: CancelAction }
  /** A client's connection broke while these runs were active (V-29). */
  | { kind: 'unseen_ends'; reader: string; run_ids: string[] }
  /** The client whose connection broke has now received the end of this run. */
  | { kind: 'seen_end'; reader: string; run_id: string }
  /** Notifications may have been missed: check everything. */
  | { kind: 'missed' }

/** Notifies other processes. If a notification is lost, the next lease renewal or `missed` has the same effect. */
export interface Wake {
  /** True when several processes may share this run state. */
  readonly shared: boolean
  /** Notifies the other processes. Never throws; returns before delivery. */
  send(message: WakeMessage): void
  /** Sets the only listener for notifications from other processes. */
  listen(onMessage: (message: WakeMessage) => void): void
  close(): Promise<void>
}

/** For run state that only this process uses: sends nothing. */
export function createLocalWake(): Wake {
  return { shared: false, send: () => undefined, listen: () => undefined, close: async () => undefined }
}
