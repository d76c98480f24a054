import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type Assistant, useDeploymentList } from '../../data/deployments/contents.ts'
import { historyKey } from '../../data/studio/history.ts'
import type { KnownHistory } from '../../data/studio/known-history.ts'
import { Button, Select, Tabs } from '../../parts/controls.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { Link } from '../../router/link.tsx'
import { navigate, setParam, useParam } from '../../router/location.ts'
import { textParam, wordParam } from '../../router/params.ts'
import { Chat } from './chat.tsx'
import { GraphPanel } from './graph-panel.tsx'
import { InputPanel } from './input/input-panel.tsx'
import { Interrupts } from './interrupts.tsx'
import { RunsPanel } from './runs-panel.tsx'
import { type RunSettings, type StudioSession, useStudioSession } from './session.ts'
import { StatePanel } from './past/state-panel.tsx'
import css from './studio.module.css'
import { CheckpointTimeline } from './past/timeline.tsx'
import { type ShownThread, useThread } from './thread.ts'

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

function Head({
  name,
  thread,
  assistants,
  chosen,
}: {
  name: string
  thread: string | undefined
  assistants: readonly Assistant[]
  chosen: Assistant
}) {
  const mode = useParam(MODE)
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
        options={assistants.map(({ assistant_id, name: title }) => [assistant_id, title] as const)}
        onChange={(id) => setParam(ASSISTANT, id)}
      />
      <Button icon="plus" onClick={() => navigate(withSearch(pathOf(name)))}>
        New thread
      </Button>
    </PageHead>
  )
}

/** Number of states, read with their values, in which the chat finds the branches of its messages. */
const CHAT_STATES = 20
const CHAT_STATES_OF_LARGE = 2
const LARGE_BYTES = 256 << 10

/** How many states of the thread are read with their values: the graph shows the newest one. */
function useStatesToRead(name: string, thread: string | undefined, mode: 'graph' | 'chat'): number {
  const queries = useQueryClient()
  if (mode === 'graph') return 1
  const known = queries.getQueryData<KnownHistory>(historyKey(name, thread))
  return (known?.steps[0]?.values_bytes ?? 0) > LARGE_BYTES ? CHAT_STATES_OF_LARGE : CHAT_STATES
}

function Work({
  name,
  thread,
  assistant,
}: {
  name: string
  thread: string | undefined
  assistant: Assistant
}) {
  const mode = useParam(MODE)
  const shownCheckpoints = { checkpoint: useParam(CHECKPOINT), against: useParam(AGAINST) }
  const [breakpoints, setBreakpoints] = useState<ReadonlySet<string>>(() => new Set())
  const opened = (id: string): void => navigate(withSearch(pathOf(name, id)), { replace: true })
  const states = useStatesToRead(name, thread, mode)
  const session = useStudioSession(name, assistant.assistant_id, { thread, opened, states })
  const shown = useThread(name, thread, shownCheckpoints, session.stream.isLoading)
  const run = useMemo(() => ({ interruptBefore: [...breakpoints] }), [breakpoints])
  return (
    <div className={css['work']} data-mode={mode}>
      <div className={css['column']}>
        {mode === 'graph' ? (
          <GraphPanel
            name={name}
            assistant={assistant}
            session={session}
            shown={shown}
            breakpoints={breakpoints}
            setBreakpoints={setBreakpoints}
          />
        ) : (
          <Chat session={session} />
        )}
      </div>
      <div className={css['column']}>
        {thread !== undefined && <RunsPanel name={name} thread={thread} session={session} />}
        <Interrupts key={shown.head?.checkpoint.checkpoint_id} shown={shown} session={session} />
        <InputPanel name={name} assistant={assistant} session={session} run={run} />
      </div>
      <div className={css['column']}>
        {thread === undefined ? <NoThread /> : <Past {...{ name, thread, shown, session, run }} />}
      </div>
    </div>
  )
}

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
  ...rest
}: {
  name: string
  thread: string
  shown: ShownThread
  session: StudioSession
  run: RunSettings
}) {
  const copied = (id: string): void => navigate(withSearch(pathOf(name, id)))
  return (
    <>
      <CheckpointTimeline
        {...{ name, thread, choose }}
        history={rest.shown.history}
        rows={rest.shown.rows}
        selected={rest.shown.selected}
      />
      <StatePanel {...{ name, thread, choose, compare, copied, ...rest }} />
    </>
  )
}

/** Runs the graphs of a deployment, shows what happens in them, and goes back to any of their states. */
export function Studio({ params }: { params: Readonly<Record<string, string>> }) {
  const { name = '', thread } = params
  const wanted = useParam(ASSISTANT)
  const assistants = useDeploymentList<Assistant>(name, '/assistants/search')
  return (
    <Loaded from={assistants} heading="h1">
      {({ pages }) => {
        const found = pages.flatMap((page) => page.rows)
        const chosen =
          found.find(({ assistant_id, graph_id }) => [assistant_id, graph_id].includes(wanted)) ?? found[0]
        if (chosen === undefined) return <Empty title="This deployment has no assistant" heading="h1" />
        return (
          <div className={css['page']}>
            <Head name={name} thread={thread} assistants={found} chosen={chosen} />
            <Work key={chosen.assistant_id} name={name} thread={thread} assistant={chosen} />
          </div>
        )
      }}
    </Loaded>
  )
}
