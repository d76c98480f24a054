import type { KeptDraft } from './bounds.ts'
import { createLater } from '../later.ts'

/** Whether this browser has the draft as it is on the page. `refused`: the browser stores nothing. */
export type KeepingState = 'kept' | 'changed' | 'refused'

/** Keeps a draft in this browser soon after each change. */
export interface DraftKeeper {
  /** Must be called after a change: writes the draft once nothing has changed for a moment, or after some seconds. */
  changed(): void
  /** As `changed`, but writes the draft at once. */
  keepNow(): void
  /** Writes the last change at once, if it is still waiting for the end of its pause. */
  flush(): void
  state(): KeepingState
  subscribe(listener: () => void): () => void
}

const PAUSE_MS = 300

/** `read` returns the draft, `write` stores it and resolves with false when the browser refuses. */
export function createDraftKeeper(
  read: () => KeptDraft,
  write: (kept: KeptDraft) => Promise<boolean>,
): DraftKeeper {
  const listeners = new Set<() => void>()
  let state: KeepingState = 'kept'
  let changes = 0
  const show = (next: KeepingState): void => {
    if (next === state) return
    state = next
    for (const listener of listeners) listener()
  }
  const later = createLater(PAUSE_MS, () => {
    const before = changes
    void write(read()).then((isKept) => {
      if (changes === before) show(isKept ? 'kept' : 'refused')
    })
  })
  const note = (): void => {
    changes += 1
    show('changed')
  }
  return {
    changed() {
      note()
      later.askAgain()
    },
    keepNow() {
      note()
      later.now()
    },
    flush: later.flush,
    state: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
