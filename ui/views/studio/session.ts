import { Client } from '@langchain/langgraph-sdk/client'
import { useStream } from '@langchain/langgraph-sdk/react'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { deploymentPath } from '../../api/deployment.ts'
import { pacedEvents } from '../../api/paced-events.ts'
import { createEventTail } from '../../data/studio/event-tail.ts'
import { createNodeStates, type TaskEvent } from './node-states.ts'

/** Modes that Studio requests. */
const MODES = ['values', 'messages-tuple', 'updates', 'tasks', 'custom'] as const
const THROTTLE_MS = 50
const LIVE_AGAIN_MS = 1000
/** Custom events that are shown. */
const SHOWN_EVENTS = 100

type Values = Record<string, unknown>

const pacedFetch = async (url: string, init?: RequestInit): Promise<Response> =>
  pacedEvents(await fetch(url, init))

/** The SDK's client of a deployment, with the session of this browser; with an auth file, as the user of Studio. */
function useClient(name: string): Client {
  return useMemo(() => {
    const workspace = new URLSearchParams(location.search).get('ws')
    return new Client({
      apiUrl: location.origin + deploymentPath(name),
      apiKey: null,
      callerOptions: { fetch: pacedFetch },
      defaultHeaders: {
        'x-auth-scheme': 'langsmith',
        ...(workspace !== null && { 'x-tenant-id': workspace }),
      },
    })
  }, [name])
}

/** Settings of the next run. */
export interface RunSettings {
  checkpoint?: { checkpoint_id: string; checkpoint_ns?: string } | undefined
  command?: { resume?: unknown } | undefined
  config?: Record<string, unknown> | undefined
  context?: Record<string, unknown> | undefined
  interruptBefore?: string[] | undefined
  interruptAfter?: string[] | undefined
  multitaskStrategy?: 'enqueue' | 'reject' | 'interrupt' | 'rollback' | undefined
  durability?: 'async' | 'sync' | 'exit' | undefined
}

type Heard = (event: string, data: Record<string, unknown>) => void

/** Reads the beginnings and ends of runs, and changes of state, until `signal` aborts. */
async function followThread(
  client: Client,
  thread: string,
  signal: AbortSignal,
  heard: Heard,
): Promise<void> {
  const options = { streamMode: ['lifecycle', 'state_update'] as never, signal }
  while (!signal.aborted) {
    try {
      for await (const { event, data } of client.threads.joinStream(thread, options))
        heard(event, data as Record<string, unknown>)
    } catch {
      // The connection broke: the next one begins below.
    }
    await new Promise((resolve) => setTimeout(resolve, LIVE_AGAIN_MS))
  }
}

/** Follows runs that others start on the thread, and changes of its state. */
function useOthers(client: Client, thread: string | undefined, heard: Heard): void {
  const listener = useRef(heard)
  useEffect(() => {
    listener.current = heard
  })
  useEffect(() => {
    if (thread === undefined) return undefined
    const ending = new AbortController()
    void followThread(client, thread, ending.signal, (event, data) => listener.current(event, data))
    return () => ending.abort()
  }, [client, thread])
}

/** What `read` returns, drawn at most every 50 ms, however often `changed` is called. */
function useThrottled<T>(read: () => T): { shown: T; changed(): void } {
  const [shown, show] = useState(read)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const changed = (): void => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      show(read())
    }, THROTTLE_MS)
  }
  return { shown, changed }
}

/** The states of nodes, and the custom events, of the run that is followed. */
function useRunEvents() {
  const [states] = useState(createNodeStates)
  const [tail] = useState(() => createEventTail(SHOWN_EVENTS))
  const nodes = useThrottled(states.snapshot)
  const custom = useThrottled(tail.snapshot)
  return {
    nodes: nodes.shown,
    custom: custom.shown,
    addTask(event: TaskEvent, namespace: string[] | undefined): void {
      states.add(event, namespace, performance.now())
      nodes.changed()
    },
    addCustom(value: unknown): void {
      tail.add(value)
      custom.changed()
    },
    clear(): void {
      states.clear()
      tail.clear()
      nodes.changed()
      custom.changed()
    },
  }
}

const REFRESH_MS = 500

/**
 * Reads what is shown of the thread again, at most twice a second. Values of checkpoints never change, and stay as they
 * are.
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
          (path === 'history' || /^\/threads\/[^/]+\/runs/.test(String(path))),
      })
    }, REFRESH_MS)
  }, [queries, name])
}

/** The runs of a thread in this tab: runs that the tab started through the SDK's hook, other runs by joining them. */
export function useStudioSession(
  name: string,
  assistant: string,
  {
    thread,
    opened,
    states,
  }: {
    thread: string | undefined
    opened(thread: string): void
    /** How many states of the thread the hook reads, with their values. */
    states: number
  },
) {
  const client = useClient(name)
  const events = useRunEvents()
  const [run, setRun] = useState<string>()
  const [gap, setGap] = useState(false)
  const refresh = useRefresh(name)
  const stream = useStream<Values>({
    client,
    assistantId: assistant,
    threadId: thread ?? null,
    onThreadId: opened,
    reconnectOnMount: true,
    throttle: THROTTLE_MS,
    fetchStateHistory: { limit: states },
    onCreated: ({ run_id }) => setRun(run_id),
    onTaskEvent: (data, { namespace }) => events.addTask(data, namespace),
    onUpdateEvent: refresh,
    onCustomEvent: events.addCustom,
    onFinish: refresh,
    onError: refresh,
  })
  useOthers(client, thread, (event, data) => {
    if (event === 'gap') setGap(true)
    refresh()
    const id = data['run_id']
    const isStart = event === 'metadata' && data['status'] !== 'run_done'
    if (!isStart || stream.isLoading || typeof id !== 'string') return
    events.clear()
    setRun(id)
    void stream.joinStream(id, undefined, { streamMode: [...MODES] })
  })
  const submit = (input: Values | null | undefined, settings: RunSettings = {}): void => {
    events.clear()
    const options = {
      ...settings,
      ...{ streamMode: [...MODES], streamSubgraphs: true, streamResumable: true, onDisconnect: 'continue' },
    }
    void stream.submit(input, options as Parameters<typeof stream.submit>[1])
  }
  return { stream, submit, nodes: events.nodes, custom: events.custom, run, gap }
}

/** What `useStudioSession` returns. */
export type StudioSession = ReturnType<typeof useStudioSession>
