import { useQueryClient } from '@tanstack/react-query'
import { memo, useMemo, useState } from 'react'
import { ApiError } from '../../api/problem.ts'
import { type Assistant, useDeploymentList } from '../../data/deployments/contents.ts'
import { historyKey } from '../../data/studio/history.ts'
import type { KnownHistory } from '../../data/studio/known-history.ts'
import { Button, Select, Tabs } from '../../parts/controls.tsx'
import { Empty, Failure, Loaded, Skeleton } from '../../parts/states.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { Link } from '../../router/link.tsx'
import { navigate, setParam, useParam } from '../../router/location.ts'
import { textParam, wordParam } from '../../router/params.ts'
import { Chat } from './chat.tsx'
import { useChosenAssistant } from './chosen-assistant.ts'
import { GraphPanel } from './graph-panel.tsx'
import { InputPanel } from './input/input-panel.tsx'
import { Interrupts, questionsOf } from './interrupts.tsx'
import { ReplayPanel } from './replay/replay-panel.tsx'
import { RunsPanel } from './runs-panel.tsx'
import { type RunSettings, type StudioSession, useStudioSession } from './session.ts'
import { StatePanel } from './past/state-panel.tsx'
import css from './studio.module.css'
import { CheckpointTimeline } from './past/timeline.tsx'
import { ThreadMenu } from './thread-menu.tsx'
import { type ShownThread, useThread } from './thread.ts'
import { UserToken } from './user-token.tsx'

const ASSISTANT = textParam('assistant')
const CHECKPOINT = textParam('checkpoint')
/** The checkpoint with which the selected one is compared. */
const AGAINST = textParam('against')
const MODE = wordParam('mode', ['graph', 'chat'])

function pathOf(name: string, thread?: string): string {
  const studio = `/deployments/${encodeURIComponent(name)}/studio`
  return thread === undefined ? studio : `${studio}/${thread}`
}

/** The address of a thread in Studio; assistant and mode stay. */
function withSearch(path: string): string {
  const search = new URLSearchParams(location.search)
  search.delete('checkpoint')
  search.delete('against')
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

interface HeadProps {
  name: string
  thread: string | undefined
  assistants: readonly Assistant[]
  chosen: Assistant
  /** True if the address names an assistant that cannot be read. */
  isGone: boolean
  /** Reads the next page of the assistants; undefined when there is none. */
  more: (() => void) | undefined
  /** Called when another user's token is used from now on. */
  usedToken(): void
}

function Head({ name, thread, assistants, chosen, isGone, more, usedToken }: HeadProps) {
  const mode = useParam(MODE)
  const isListed = assistants.some(({ assistant_id }) => assistant_id === chosen.assistant_id)
  const options = isListed ? assistants : [chosen, ...assistants]
  const tabs = (['graph', 'chat'] as const).map((word) => {
    const search = new URLSearchParams(location.search)
    if (word === 'graph') search.delete('mode')
    else search.set('mode', word)
    const text = search.toString()
    return {
      to: pathOf(name, thread) + (text === '' ? '' : `?${text}`),
      text: word === 'graph' ? 'Graph' : 'Chat',
      isCurrent: word === mode,
    }
  })
  return (
    <PageHead>
      <h1>
        <Link to={`/deployments/${encodeURIComponent(name)}`}>{name}</Link> · Studio
      </h1>
      <Tabs label="Mode" tabs={tabs} />
      <Select
        label="Assistant"
        value={chosen.assistant_id}
        options={options.map(({ assistant_id, name: title }) => [assistant_id, title] as const)}
        onChange={(id) => setParam(ASSISTANT, id)}
      />
      {more !== undefined && (
        <Button look="plain" onClick={more}>
          List more assistants
        </Button>
      )}
      {isGone && (
        <span className={css['warn']} role="status">
          The assistant of the address cannot be read; it may have been deleted.
        </span>
      )}
      <UserToken name={name} used={usedToken} />
      <ThreadMenu name={name} thread={thread} />
      <Button icon="plus" onClick={() => navigate(withSearch(pathOf(name)))}>
        New thread
      </Button>
    </PageHead>
  )
}

/**
 * Number of states in which the chat finds the branches of its messages. It is lower if the server has to read large
 * states.
 */
const CHAT_STATES = 50
const CHAT_STATES_OF_LARGE = 20
const LARGE_BYTES = 256 << 10

/**
 * Number of states of the thread that the hook reads. One is enough for the graph, which shows none of their values.
 */
function useStatesToRead(name: string, thread: string | undefined, mode: 'graph' | 'chat'): number {
  const queries = useQueryClient()
  if (mode === 'graph') return 1
  const known = queries.getQueryData<KnownHistory>(historyKey(name, thread))
  return (known?.steps[0]?.values_bytes ?? 0) > LARGE_BYTES ? CHAT_STATES_OF_LARGE : CHAT_STATES
}

interface WorkProps {
  name: string
  thread: string | undefined
  assistant: Assistant
}

function Work({ name, thread, assistant }: WorkProps) {
  const mode = useParam(MODE)
  const opened = (id: string): void => navigate(withSearch(pathOf(name, id)), { replace: true })
  // The newest checkpoint is selected, so that the states of the run are shown.
  const started = (): void => setParam(CHECKPOINT, '')
  const states = useStatesToRead(name, thread, mode)
  const shown = { thread, opened, started, states }
  const { session, stream } = useStudioSession(name, assistant.assistant_id, shown)
  return (
    <div className={css['work']} data-mode={mode}>
      {mode === 'chat' && (
        <div className={css['column']}>
          <Chat
            stream={stream}
            error={session.error}
            ui={{ name, graph: assistant.graph_id, thread }}
            submit={session.submit}
            refusal={session.rights.run}
          />
        </div>
      )}
      <Panels {...{ name, thread, assistant, session }} />
    </div>
  )
}

/** The panels beside the chat. They are not drawn again for the tokens of a run. */
const Panels = memo(function Panels({
  name,
  thread,
  assistant,
  session,
}: WorkProps & { session: StudioSession }) {
  const mode = useParam(MODE)
  const shownCheckpoints = { checkpoint: useParam(CHECKPOINT), against: useParam(AGAINST) }
  const [breakpoints, setBreakpoints] = useState<ReadonlySet<string>>(() => new Set())
  const shown = useThread(name, thread, shownCheckpoints, session.isLoading)
  const run = useMemo(() => ({ interruptBefore: [...breakpoints] }), [breakpoints])
  return (
    <>
      {mode === 'graph' && (
        <div className={css['column']}>
          <GraphPanel {...{ name, assistant, session, shown, breakpoints, setBreakpoints }} />
        </div>
      )}
      <div className={css['column']}>
        {session.refusal !== undefined && (
          <p className={`${css['panel']} ${css['bad']}`} role="alert">
            {session.refusal}
          </p>
        )}
        {thread !== undefined && (
          <RunsPanel {...{ name, thread, session }} isWaiting={questionsOf(shown).length > 0} />
        )}
        <ReplayPanel replay={session.replay} rows={shown.rows} choose={choose} />
        <Interrupts key={shown.head?.checkpoint.checkpoint_id} shown={shown} session={session} />
        {mode === 'graph' ? (
          <InputPanel name={name} assistant={assistant} session={session} run={run} />
        ) : (
          <details className={css['inputs']}>
            <summary>Other inputs and settings of a run</summary>
            <InputPanel name={name} assistant={assistant} session={session} run={run} />
          </details>
        )}
      </div>
      <div className={css['column']}>
        {thread === undefined ? <NoThread /> : <Past {...{ name, assistant, thread, shown, session, run }} />}
      </div>
    </>
  )
})

function NoThread() {
  return (
    <Empty title="There is no thread yet">
      <p>The first run makes one. Its checkpoints appear here, each with the nodes that ran.</p>
    </Empty>
  )
}

const choose = (checkpoint: string): void => setParam(CHECKPOINT, checkpoint)
const compare = (checkpoint: string): void => setParam(AGAINST, checkpoint)

/** The checkpoints of the thread and the state at the selected one. */
function Past({
  name,
  thread,
  assistant,
  ...rest
}: {
  name: string
  thread: string
  assistant: Assistant
  shown: ShownThread
  session: StudioSession
  run: RunSettings
}) {
  const copied = (id: string): void => navigate(withSearch(pathOf(name, id)))
  return (
    <>
      <CheckpointTimeline
        {...{ name, thread, choose }}
        graph={assistant.graph_id}
        history={rest.shown.history}
        rows={rest.shown.rows}
        selected={rest.shown.selected}
      />
      <StatePanel {...{ name, assistant, thread, choose, compare, copied, ...rest }} />
    </>
  )
}

function Opened({ params, usedToken }: StudioProps & { usedToken(): void }) {
  const { name = '', thread } = params
  const wanted = useParam(ASSISTANT)
  const assistants = useDeploymentList<Assistant>(name, '/assistants/search')
  const listed = assistants.data?.pages.flatMap(({ rows }) => rows)
  const { chosen, isGone } = useChosenAssistant({ name, thread, wanted, listed })
  const more = assistants.hasNextPage ? () => void assistants.fetchNextPage() : undefined
  if (assistants.error instanceof ApiError && assistants.error.status === 401)
    return (
      <>
        <Failure error={assistants.error} heading="h1" />
        <UserToken name={name} used={usedToken} />
        <ThreadMenu name={name} thread={thread} />
      </>
    )
  return (
    <Loaded from={{ data: listed, error: assistants.error, refetch: assistants.refetch }} heading="h1">
      {(found) => {
        if (found.length === 0) return <Empty title="This deployment has no assistant" heading="h1" />
        if (chosen === undefined) return <Skeleton />
        return (
          <div className={css['page']}>
            <Head {...{ name, thread, chosen, isGone, more, usedToken }} assistants={found} />
            <Work key={chosen.assistant_id} name={name} thread={thread} assistant={chosen} />
          </div>
        )
      }}
    </Loaded>
  )
}

interface StudioProps {
  params: Readonly<Record<string, string>>
}

/** The first parts of the keys of cached data of deployments (data/deployments/contents.ts, data/studio/). */
const READ_AS_USER = new Set(['deployment', 'earlier-inputs', 'run-trace'])

/** Runs the graphs of a deployment and shows what happens in them. A run can continue from any earlier state. */
export function Studio({ params }: StudioProps) {
  const queries = useQueryClient()
  const [turn, setTurn] = useState(0)
  const usedToken = (): void => {
    // Data that was read as another user is removed.
    queries.removeQueries({
      predicate: ({ queryKey: [kind, deployment] }) =>
        deployment === params['name'] && READ_AS_USER.has(String(kind)),
    })
    setTurn(turn + 1)
  }
  return <Opened key={`${turn} ${params['name']}`} params={params} usedToken={usedToken} />
}
