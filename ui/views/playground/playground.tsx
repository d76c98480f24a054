import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { callModel } from '../../data/playground/calls.ts'
import {
  type Draft,
  emptyDraft,
  MAX_COLUMNS,
  newColumn,
  newId,
  withEntry,
} from '../../data/playground/draft.ts'
import { type DraftOfRun, draftOfRun } from '../../data/playground/from-run.ts'
import type { KeepingState } from '../../data/playground/kept/draft-keeper.ts'
import type { KeptDraft } from '../../data/playground/kept/bounds.ts'
import { createKeptDrafts } from '../../data/playground/kept/kept-drafts.ts'
import { createPlaygroundState, type PlaygroundState } from '../../data/playground/playground-state.ts'
import { type ReadRun, wholeRunOptions } from '../../data/runs.ts'
import { useIsSignedIn, usePermission, useSession } from '../../data/session.ts'
import { Button, Key } from '../../parts/controls.tsx'
import { useKeys } from '../../parts/keyboard/keys.ts'
import { Empty, Failure, Skeleton } from '../../parts/states.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { Link } from '../../router/link.tsx'
import { useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import { ModelColumn } from './column.tsx'
import css from './playground.module.css'
import { Prompt } from './prompt/prompt.tsx'
import { SourceColumn } from './source-column.tsx'
import { useDraft, useIsRunning, useKeeping } from './use-state.ts'

/** Id of the run from which the draft comes. */
const FROM = textParam('from')

/** The initial content of the page: the run, and the draft that this browser has of it. */
interface Beginning {
  /** The key under which the draft is kept. */
  place: string
  run: ReadRun | undefined
  kept: KeptDraft | undefined
}

function fresh(run: ReadRun | undefined): DraftOfRun {
  return run === undefined ? { draft: emptyDraft(), notes: [] } : draftOfRun(run)
}

/** Adds a model with the settings of the last one. */
function withColumn(draft: Draft): Draft {
  if (draft.columns.length >= MAX_COLUMNS) return draft
  const last = draft.columns.at(-1) ?? newColumn()
  return { ...draft, columns: [...draft.columns, { ...last, id: newId() }] }
}

const KEEPING: Readonly<Record<KeepingState, string>> = {
  kept: 'Kept in this browser',
  changed: 'Changed',
  refused: 'This browser keeps no drafts',
}

/** Shows whether the draft will be there after a reload. */
function Keeping({ state }: { state: PlaygroundState }) {
  return <span className={css['note']}>{KEEPING[useKeeping(state)]}</span>
}

function Head({
  state,
  run,
  runAll,
  startAgain,
}: {
  state: PlaygroundState
  run: ReadRun | undefined
  runAll(): void
  startAgain(): void
}) {
  const { columns } = useDraft(state)
  const isRunning = useIsRunning(state)
  const { isAllowed, reason } = usePermission('playground:use')
  return (
    <PageHead className={css['head']}>
      <h1>Playground</h1>
      <p className={css['from']}>
        {run === undefined ? (
          'Calls models with your prompt. Each call is stored as a trace.'
        ) : (
          <>
            From <Link to={`/traces/${run.trace_id}?run=${run.id}`}>{run.name}</Link>
          </>
        )}
      </p>
      <div className={css['actions']}>
        <Keeping state={state} />
        <Button look="plain" icon="refresh" onClick={startAgain}>
          Start again
        </Button>
        <Button
          icon="plus"
          disabled={columns.length >= MAX_COLUMNS}
          title={
            columns.length >= MAX_COLUMNS ? `At most ${MAX_COLUMNS} models beside each other` : undefined
          }
          onClick={() => state.change(withColumn)}
        >
          Add a model
        </Button>
        {isRunning && (
          <Button icon="close" onClick={() => columns.forEach(({ id }) => state.stop(id))}>
            Stop all
          </Button>
        )}
        <Button look="primary" disabled={!isAllowed} title={reason} onClick={runAll}>
          {columns.length > 1 ? 'Run all' : 'Run'} <Key>⌘⏎</Key>
        </Button>
      </div>
    </PageHead>
  )
}

interface WorkProps extends Beginning {
  startAgain(): void
  /** False once the draft has been started again or the user has signed out: the old draft is then no longer stored. */
  mayKeep(): Promise<boolean>
}

function Work({ place, run, kept, startAgain, mayKeep }: WorkProps) {
  const { isAllowed } = usePermission('playground:use')
  const [begun] = useState(() => fresh(run))
  const [state] = useState(() =>
    createPlaygroundState({
      kept: kept ?? { draft: begun.draft, results: {} },
      source: run?.id ?? '',
      call: callModel,
      keep: async (now) => (await mayKeep()) && createKeptDrafts().write(place, now),
    }),
  )
  useEffect(() => {
    addEventListener('pagehide', state.close)
    return () => {
      removeEventListener('pagehide', state.close)
      state.close()
    }
  }, [state])
  const keys = useMemo(() => {
    const runAll = (): void => {
      if (isAllowed) for (const { id } of state.draft().columns) state.run(id)
    }
    return { 'Mod+Enter': runAll }
  }, [state, isAllowed])
  useKeys(keys)
  const { columns } = useDraft(state)
  return (
    <div className={css['page']}>
      <Head state={state} run={run} runAll={keys['Mod+Enter']} startAgain={startAgain} />
      <div className={css['work']} data-many={columns.length + (run === undefined ? 0 : 1) > 2}>
        <Prompt state={state} notes={begun.notes} />
        <div className={css['columns']} data-scrolls="true">
          {run !== undefined && <SourceColumn run={run} />}
          {columns.map((column, at) => (
            <ModelColumn
              key={column.id}
              state={state}
              column={column}
              name={`Model ${at + 1}`}
              source={run}
              isOnly={columns.length === 1}
              change={(fields) =>
                state.change((draft) => ({
                  ...draft,
                  columns: withEntry(draft.columns, column.id, (one) => ({ ...one, ...fields })),
                }))
              }
            />
          ))}
        </div>
      </div>
    </div>
  )
}

/** The draft that this browser has under a key; null without one. */
function useKept(place: string) {
  return useQuery({
    queryKey: ['kept-draft', place],
    queryFn: async () => (await createKeptDrafts().read(place)) ?? null,
    // The result is the draft that was kept when the page was opened: later drafts are on the page itself.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

function Opened({ from }: { from: string }) {
  const { data: session } = useSession()
  const [turn, setTurn] = useState(0)
  const place = [
    session?.user?.id ?? session?.api_key?.id,
    new URLSearchParams(location.search).get('ws'),
    from,
  ]
  const key = place.map((part) => part ?? '').join(' ')
  const run = useQuery({ ...wholeRunOptions(from), refetchOnWindowFocus: false })
  const kept = useKept(key)
  const isSignedIn = useIsSignedIn()
  const current = useRef(0)
  /** The deletion of the previous draft. The next draft is stored only after it, because both have the same key. */
  const removal = useRef(Promise.resolve())
  const startAgain = (): void => {
    current.current = turn + 1
    removal.current = createKeptDrafts().remove(key)
    setTurn(turn + 1)
  }
  const mayKeep = async (): Promise<boolean> => {
    await removal.current
    return current.current === turn && isSignedIn()
  }
  if (run.error !== null) return <Failure error={run.error} heading="h1" retry={() => void run.refetch()} />
  if ((from !== '' && run.data === undefined) || kept.data === undefined) return <Skeleton />
  if (run.data !== undefined && run.data.run_type !== 'llm')
    return (
      <Empty title="This run is not a model call" heading="h1">
        <p>The playground repeats calls of models. Open one of them in its trace.</p>
        <Link to={`/traces/${run.data.trace_id}?run=${from}`}>Open the trace</Link>
      </Empty>
    )
  return (
    <Work
      key={turn}
      place={key}
      run={run.data}
      kept={turn === 0 ? (kept.data ?? undefined) : undefined}
      startAgain={startAgain}
      mayKeep={mayKeep}
    />
  )
}

/** Calls up to four models with one prompt, and compares their answers with each other and with the answer of a run. */
export function Playground() {
  const from = useParam(FROM)
  return <Opened key={from} from={from} />
}
