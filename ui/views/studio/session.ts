import { Client } from '@langchain/langgraph-sdk/client'
import { useStream } from '@langchain/langgraph-sdk/react'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { deploymentPath } from '../../api/deployment.ts'
import { pacedEvents } from '../../api/paced-events.ts'
import { type ReadHistory, readShownHistory } from '../../data/studio/shown-history.ts'
import { useDeploymentApi } from '../../data/deployments/deployment-api.ts'
import { pause } from '../../data/live/pause.ts'
import { useSession } from '../../data/session.ts'
import { isUiEvent, withUiEvent } from '../../data/studio/components/ui-messages.ts'
import { type FollowedThread, followThread, type ThreadEvent } from '../../data/studio/follow-thread.ts'
import { type RunError, runErrorOf } from '../../data/studio/run-error.ts'
import { rightsOf, type StudioRights } from '../../data/studio/rights.ts'
import { isOther, noRun, type ShownRun, withThread } from '../../data/studio/shown-run.ts'
import { createReplay, type Replay } from './replay/create-replay.ts'
import type { SentEvent } from './replay/moments.ts'
import { createRunEvents, type RunEvents } from './run-events.ts'

/** Modes that Studio requests. */
const MODES = ['values', 'messages-tuple', 'updates', 'tasks', 'custom'] as const
const THROTTLE_MS = 50
/** Options of every run that Studio starts. */
const STREAMED = {
  streamMode: [...MODES],
  streamSubgraphs: true,
  streamResumable: true,
  onDisconnect: 'continue',
}

type Values = Record<string, unknown>

const pacedFetch = async (url: string, init?: RequestInit): Promise<Response> =>
  pacedEvents(await fetch(url, init))

/** The SDK's client of a deployment, as the user of Studio or of the token that was set. */
function useClient(name: string): Client {
  const deployments = useDeploymentApi()
  return useMemo(() => {
    const workspace = new URLSearchParams(location.search).get('ws')
    const client = new Client({
      apiUrl: location.origin + deploymentPath(name),
      apiKey: null,
      callerOptions: { fetch: pacedFetch },
      defaultHeaders: {
        ...deployments.headers(name),
        ...(workspace !== null && { 'x-tenant-id': workspace }),
      },
    })
    const { threads } = client
    const read = threads.getHistory.bind(threads) as ReadHistory
    threads.getHistory = (async (thread, options) =>
      await readShownHistory(read, thread, options)) as typeof threads.getHistory
    return client
  }, [name, deployments])
}

export interface RunSettings {
  /** Undefined: the end of the branch that the chat shows. Null: the newest checkpoint. */
  checkpoint?: { checkpoint_id: string; checkpoint_ns?: string } | null | undefined
  command?: { resume?: unknown } | undefined
  config?: Record<string, unknown> | undefined
  context?: Record<string, unknown> | undefined
  interruptBefore?: string[] | undefined
  interruptAfter?: string[] | undefined
  multitaskStrategy?: 'enqueue' | 'reject' | 'interrupt' | 'rollback' | undefined
  durability?: 'async' | 'sync' | 'exit' | undefined
}

/**
 * Follows runs that others start on the thread, and changes of its state. `onRefusal` is called when the server refuses
 * that.
 */
function useOthers(
  client: Client,
  thread: string | undefined,
  onEvent: FollowedThread['onEvent'],
  onRefusal: (reason: string) => void,
): void {
  const takeEvent = useEffectEvent(onEvent)
  const takeRefusal = useEffectEvent(onRefusal)
  useEffect(() => {
    if (thread === undefined) return undefined
    const ending = new AbortController()
    const { signal } = ending
    const options = { streamMode: ['lifecycle', 'state_update'] as never, signal }
    void followThread({
      connect: () => client.threads.joinStream(thread, options) as AsyncIterable<ThreadEvent>,
      onEvent: (event) => takeEvent(event),
      pause,
      signal,
    }).then((reason) => reason !== undefined && takeRefusal(reason))
    return () => ending.abort()
  }, [client, thread])
}

function useStudioRights(name: string, thread: string | undefined): StudioRights {
  const permissions = useSession().data?.permissions
  const [hasToken, hasThread] = [useDeploymentApi().hasToken(name), thread !== undefined]
  return useMemo(
    () => rightsOf({ permissions: permissions ?? [], hasToken, hasThread }),
    [permissions, hasToken, hasThread],
  )
}

const REFRESH_MS = 500

/**
 * Reads the shown data of the thread again, at most twice a second. Values of checkpoints are not read again, because
 * they never change.
 */
function useRefresh(name: string): () => void {
  const queries = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      void queries.invalidateQueries({
        predicate: ({ queryKey: [kind, deployment, path] }) =>
          kind === 'deployment' &&
          deployment === name &&
          (path === 'history' || /^\/threads\/[^/]+\/(?:runs|state$)/.test(String(path))),
      })
    }, REFRESH_MS)
  }, [queries, name])
}

/** The state of a run of the thread in this tab. It has no values, because they change with every token. */
export interface StudioSession {
  /** Starts a run. Stays the same function for as long as the page is open. */
  submit(input: Values | null | undefined, settings?: RunSettings): void
  events: RunEvents
  /** Replays ended runs. */
  replay: Replay
  /** Id of the run that is shown. */
  run: string | undefined
  /** True if the server had dropped events before they were read. */
  gap: boolean
  /** Why changes by others are not shown as they happen; undefined while they are. */
  refusal: string | undefined
  isLoading: boolean
  /** Why the run failed. */
  error: RunError | undefined
  /** The actions that the permissions of the session allow. */
  rights: StudioRights
}

type Submit = StudioSession['submit']

/** Clears the events when another thread is shown, except for a thread that a run of this page has created. */
function useEventsOf(thread: string | undefined): RunEvents {
  const [events] = useState(createRunEvents)
  const before = useRef(thread)
  useEffect(() => {
    if (isOther(before.current, thread)) events.clear()
    before.current = thread
  }, [thread, events])
  return events
}

/** Modes of the events that a replay shows. */
const REPLAYED = ['tasks', 'messages-tuple', 'custom'] as const

/** The replay of ended runs. It ends when another thread is shown or the page is left. */
function useReplay(client: Client, events: RunEvents, thread: string | undefined): Replay {
  const replay = useMemo(
    () =>
      createReplay({
        events,
        read: (of, run, signal) =>
          client.runs.joinStream(of, run, {
            lastEventId: '-',
            streamMode: [...REPLAYED],
            signal,
          }) as AsyncIterable<SentEvent>,
        pause,
        now: () => performance.now(),
      }),
    [client, events],
  )
  const before = useRef(thread)
  useEffect(() => {
    if (isOther(before.current, thread)) replay.stop()
    before.current = thread
  }, [thread, replay])
  useEffect(() => replay.stop, [replay])
  return replay
}

/**
 * The run that is shown, and a function that changes what is known of it. For another thread, it begins without a run.
 */
function useShownRun(thread: string | undefined) {
  const [known, setKnown] = useState(() => noRun(thread))
  const shown = withThread(known, thread)
  if (shown !== known) setKnown(shown)
  const change = (fields: Partial<Omit<ShownRun, 'thread'>>): void =>
    setKnown((before) => ({ ...before, ...fields }))
  return { ...shown, change }
}

/** A function that stays the same object and calls the latest `submit`. */
function useLatest(submit: Submit): Submit {
  const latest = useRef(submit)
  useEffect(() => {
    latest.current = submit
  })
  return useCallback((...sent) => latest.current(...sent), [])
}

/** The error of a run, as the same object for as long as its parts stay the same. */
function useRunError(error: unknown): RunError | undefined {
  const { message, code, request_id } = runErrorOf(error) ?? {}
  return useMemo(
    () => (message === undefined ? undefined : { message, code, request_id }),
    [message, code, request_id],
  )
}

interface SessionOptions {
  thread: string | undefined
  opened(thread: string): void
  /** Called when this tab starts a run. */
  started(): void
  /** Number of states of the thread that the hook reads. */
  states: number
}

/**
 * The runs of a thread in this tab: runs that the tab started through the SDK's hook, other runs by joining them. `stream`
 * is what the hook returns, which changes with every value and token.
 */
export function useStudioSession(
  name: string,
  assistant: string,
  { thread, opened, started, states }: SessionOptions,
) {
  const client = useClient(name)
  const events = useEventsOf(thread)
  const replay = useReplay(client, events, thread)
  const { run, gap, refusal, change } = useShownRun(thread)
  const refresh = useRefresh(name)
  const stream = useStream<Values>({
    client,
    assistantId: assistant,
    threadId: thread ?? null,
    onThreadId: opened,
    reconnectOnMount: true,
    throttle: THROTTLE_MS,
    fetchStateHistory: { limit: states },
    onCreated({ run_id }) {
      change({ run: run_id })
      refresh()
    },
    onTaskEvent: (data, { namespace }) => events.addTask(data, namespace),
    onUpdateEvent: refresh,
    onCustomEvent(data, { mutate }) {
      events.addCustom(data)
      if (isUiEvent(data)) mutate(({ ui }) => ({ ui: withUiEvent(ui, data) }))
    },
    onFinish: refresh,
    onError: refresh,
  })
  const onEvent: FollowedThread['onEvent'] = ({ event, data }) => {
    if (event === 'gap') change({ gap: true })
    refresh()
    const id = data['run_id']
    const isStart = event === 'metadata' && data['status'] !== 'run_done'
    if (!isStart || stream.isLoading || typeof id !== 'string') return
    replay.stop()
    events.clear()
    change({ run: id })
    void stream.joinStream(id, undefined, { streamMode: [...MODES] })
  }
  useOthers(client, thread, onEvent, (reason) => change({ refusal: reason }))
  const submit = useLatest((input, settings = {}) => {
    replay.stop()
    events.clear()
    started()
    const options = { ...settings, ...STREAMED }
    void stream.submit(input, options as Parameters<typeof stream.submit>[1])
  })
  const { isLoading } = stream
  const error = useRunError(stream.error)
  const rights = useStudioRights(name, thread)
  const session = useMemo<StudioSession>(
    () => ({ submit, events, replay, run, gap, refusal, isLoading, error, rights }),
    [submit, events, replay, run, gap, refusal, isLoading, error, rights],
  )
  return { session, stream }
}

/** The result of the SDK's hook. */
export type StudioStream = ReturnType<typeof useStudioSession>['stream']
