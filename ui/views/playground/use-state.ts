import { useSyncExternalStore } from 'react'
import type { CallResult } from '../../data/playground/answer.ts'
import type { KeepingState } from '../../data/playground/kept/draft-keeper.ts'
import type { Draft } from '../../data/playground/draft.ts'
import type { PlaygroundState } from '../../data/playground/playground-state.ts'

/** The draft; the component is drawn again when it changes, but not for what is typed. */
export function useDraft(state: PlaygroundState): Draft {
  return useSyncExternalStore(state.subscribe, state.draft)
}

export function useResult(state: PlaygroundState, column: string): CallResult | undefined {
  return useSyncExternalStore(state.subscribe, () => state.result(column))
}

/** Whether any call is under way. */
export function useIsRunning(state: PlaygroundState): boolean {
  return useSyncExternalStore(state.subscribe, state.isRunning)
}

/** Whether this browser has the draft as it is on the page. */
export function useKeeping({ keeping }: PlaygroundState): KeepingState {
  return useSyncExternalStore(keeping.subscribe, keeping.state)
}
