import type { CallResult } from './answer.ts'
import { callBody } from './call-body.ts'
import { type CallModel, runCall } from './calls.ts'
import type { Draft, DraftColumn } from './draft.ts'
import { createDraftKeeper, type DraftKeeper } from './kept/draft-keeper.ts'
import type { KeptDraft } from './kept/bounds.ts'
import { createLater } from './later.ts'

/** The draft on the page, and the calls that are made with it. */
export interface PlaygroundState {
  draft(): Draft
  result(column: string): CallResult | undefined
  isRunning(): boolean
  /** Calls `changed` after every change, except those by `type`. */
  subscribe(changed: () => void): () => void
  /** Changes the draft; the page is drawn again. */
  change(next: (draft: Draft) => Draft): void
  /** Changes a text of the draft, which its field shows already: nothing is drawn again. */
  type(next: (draft: Draft) => Draft): void
  /** Calls the model of a column; an earlier call of it is stopped. */
  run(column: string): void
  stop(column: string): void
  readonly keeping: Pick<DraftKeeper, 'state' | 'subscribe'>
  /** Stops all calls and stores the latest changes. */
  close(): void
}

export interface PlaygroundParts {
  kept: KeptDraft
  /** Id of the run from which the draft comes; '' for none. */
  source: string
  call: CallModel
  /** Stores the draft in this browser; false when it refuses. */
  keep(kept: KeptDraft): Promise<boolean>
}

const SHOW_MS = 50

/**
 * The result of a call that was running when the page was closed or loaded again: the server has cancelled the call.
 */
function ended(result: CallResult): CallResult {
  if (result.state !== 'running') return result
  return { ...result, state: 'stopped' }
}

/** Names of secrets that the server has accepted: only these are kept, because any other typed text may be a key. */
function createTakenSecrets(kept: readonly DraftColumn[]) {
  const taken = new Map(kept.map(({ id, secret }) => [id, secret]))
  const keepable = (column: DraftColumn): DraftColumn =>
    taken.get(column.id) === column.secret ? column : { ...column, secret: '' }
  return {
    took: ({ id, secret }: DraftColumn) => void taken.set(id, secret),
    keepable: (draft: Draft): Draft => ({ ...draft, columns: draft.columns.map(keepable) }),
  }
}

export function createPlaygroundState({ kept, source, call, keep }: PlaygroundParts): PlaygroundState {
  const listeners = new Set<() => void>()
  const results = new Map(Object.entries(kept.results).map(([id, result]) => [id, ended(result)]))
  const calls = new Map<string, AbortController>()
  let { draft } = kept
  const show = createLater(SHOW_MS, () => listeners.forEach((changed) => changed()))
  const secrets = createTakenSecrets(draft.columns)
  const now = (): KeptDraft => ({ draft: secrets.keepable(draft), results: Object.fromEntries(results) })
  const keeping = createDraftKeeper(now, keep)

  function keepResult(column: DraftColumn, result: CallResult, aborting: AbortController): void {
    const { id } = column
    if (calls.get(id) !== aborting) return
    const before = results.get(id)
    results.set(id, result)
    if (result.run_id !== '') secrets.took(column)
    const isEnd = result.state !== 'running'
    if (isEnd) calls.delete(id)
    if (isEnd || before?.run_id !== result.run_id) keeping.keepNow()
    if (isEnd || before?.state !== 'running') show.now()
    else show.ask()
  }

  return {
    keeping,
    draft: () => draft,
    result: (column) => results.get(column),
    isRunning: () => calls.size > 0,
    subscribe(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    change(next) {
      draft = next(draft)
      for (const id of results.keys())
        if (!draft.columns.some((column) => column.id === id)) results.delete(id)
      keeping.changed()
      show.now()
    },
    type(next) {
      draft = next(draft)
      keeping.changed()
    },
    run(id) {
      const column = draft.columns.find((one) => one.id === id)
      if (column === undefined) return
      calls.get(id)?.abort()
      const aborting = new AbortController()
      calls.set(id, aborting)
      const body = () => callBody(draft, column, source)
      void runCall(call, body, aborting.signal, (result) => keepResult(column, result, aborting))
    },
    stop: (id) => calls.get(id)?.abort(),
    close() {
      for (const aborting of calls.values()) aborting.abort()
      keeping.flush()
    },
  }
}
