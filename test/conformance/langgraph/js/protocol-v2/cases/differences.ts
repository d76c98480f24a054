import type { Shape } from './shapes.ts'

type Seen = Record<string, unknown>[]

/**
 * The intended differences from a recorded session. Each function changes one part of the recording before the
 * comparison.
 */
export interface Difference {
  of_seen?(seen: Seen): Seen
  /** Changes what the client reports in the test, not the recording. */
  of_found?(seen: Seen): Seen
  of_events?(events: Shape[]): Shape[]
}

/**
 * Sessions whose events depend on the timing of the client: it determines the number of tokens, or the runs in a
 * stream.
 */
export const EVENTS_DEPEND_ON_TIME: ReadonlySet<string> = new Set([
  'golden/cancel-v1',
  'golden/controller',
  'python-server/controller',
  'expected/controller',
  // The recording shows all stream modes. Here a run that was created over v1 only sends its own (V-42).
  'expected/controller-hydrate',
  'expected/controller-other',
  'expected/controller-queue',
  'expected/v1-run',
  // When a run resumes, Weir sends the state once more than the recorded server.
  'golden/interrupts-batch',
  // The script closes the stream of v2 when the stream of v1 has ended. The last events of v2 may not have arrived by
  // then.
  'faults/v1-join',
  // Weir's event numbers are larger than the recorded ones, so all of its events come after the number in `since`.
  'golden/since',
  // The recorded client closes its stream when the first run ends.
  'python-server/next-turn',
])

/**
 * Changes recorded events as Weir sends them: it sends deltas of the arguments of tool calls (V-20), and results of
 * tools without an id.
 */
function newerTools(events: Shape[]): Shape[] {
  return events.map((event) => {
    const { method, data } = event
    const fields = data as Record<string, Record<string, unknown>> & { event?: string }
    if (method === 'messages' && fields['delta']?.['type'] === 'block-delta')
      return { ...event, data: { event: fields.event, delta: { type: 'tool-call-delta' } } }
    if (method === 'messages' && fields['content']?.['type'] === 'tool_call_chunk')
      return {
        ...event,
        data: { event: fields.event, content: { type: 'tool_call_chunk', name: 'weather' } },
      }
    if (fields.event !== 'tool-finished') return event
    const { id: _id, ...output } = fields['output'] ?? {}
    return { ...event, data: { ...fields, output } }
  })
}

/** The answers to commands that the script sends itself, without their texts. */
function answersOf(seen: Seen): Seen {
  return seen.map((one) => {
    const [[method, told] = []] = Object.entries(one) as [string, [number, string]][]
    const { type, id, error, result } = JSON.parse(told?.[1] ?? '{}') as Record<string, unknown>
    return { [method ?? '']: [told?.[0], { type, id, error, result }] }
  })
}

/** Weir's answers to the commands that LangGraph's servers refuse with other codes, by the id of the command. */
const ANSWERS: readonly (readonly [id: number | null, error: string | undefined])[] = [
  // Weir supports commands 52 and 53. It refuses 53 because `x` is not the id of a checkpoint (V-8).
  [52, undefined],
  [53, 'invalid_argument'],
  [54, 'not_supported'],
  [55, 'not_supported'],
  [56, 'not_supported'],
  [57, 'unknown_command'],
  [58, 'invalid_argument'],
  [59, 'no_such_interrupt'],
  [null, 'invalid_argument'],
]

/**
 * The expected answers to commands that the script sends itself. The answers to all commands before those of ANSWERS
 * are `first`, by default as recorded.
 */
function answersHere(first?: Seen): (seen: Seen) => Seen {
  return (seen) => {
    const recorded = answersOf(seen)
    const others = recorded.slice(-ANSWERS.length).map((one, at) => {
      const [method = ''] = Object.keys(one)
      const [id, error] = ANSWERS[at] ?? []
      const type = error === undefined ? 'success' : 'error'
      return { [method]: [id === null ? 400 : 200, { type, id, error }] }
    })
    return [...(first ?? recorded.slice(0, -ANSWERS.length)), ...others]
  }
}

/**
 * Changes recorded events as Weir sends them for a Python graph, which it executes as for v1 (V-45): messages keep
 * their ids and their text, and the field of their metadata has the same name as for JavaScript graphs.
 */
function ofPythonGraph(events: Shape[]): Shape[] {
  return events.map((event) => {
    const { method, data } = event
    if (method === 'values') {
      const { messages, ...values } = data as { messages: JsonMessage[] }
      return { ...event, data: { ...values, messages: messages.map(asKept) } }
    }
    if (method === 'messages') return { ...event, data: asSent(data as Record<string, unknown>) }
    const { namespace: _namespace, trigger_call_id: _call, ...facts } = data as Record<string, unknown>
    return { ...event, data: facts }
  })
}

interface JsonMessage {
  type: string
  id?: string
  content: string | { type: string; text?: string }[]
  response_metadata?: Record<string, unknown>
}

function asKept({ id, content, response_metadata = {}, ...message }: JsonMessage): object {
  const { output_version: _version, ...metadata } = response_metadata
  const blocks = typeof content === 'string' ? [] : content.filter(({ type }) => type !== 'tool_call')
  const isText = typeof content !== 'string' && blocks.every(({ type }) => type === 'text')
  return {
    ...message,
    ...(message.type === 'human' && { id }),
    content:
      typeof content === 'string' ? content : isText ? blocks.map(({ text }) => text).join('') : blocks,
    response_metadata: metadata,
  }
}

function asSent({ id: _id, metadata, delta, ...data }: Record<string, unknown>): object {
  const isOfCall = (delta as { type?: string } | undefined)?.type === 'tool-call-delta'
  return {
    ...data,
    ...(delta !== undefined && { delta: isOfCall ? { type: 'block-delta' } : delta }),
    ...(metadata !== undefined && { responseMetadata: metadata }),
  }
}

const TEXT_KEPT: Difference = { of_events: ofPythonGraph }

/** Swaps the events at two positions. */
function exchanged(events: Shape[], a: number, b: number): Shape[] {
  return events.map((event, at) => (at === a ? events[b] : at === b ? events[a] : undefined) ?? event)
}

export const DIFFERENCES: Readonly<Record<string, Difference>> = {
  'golden/all-channels': { of_events: newerTools },
  'golden/tool-calls': { of_events: newerTools },
  'golden/failure': {
    // The error message of a failed run is plain text (V-18).
    of_seen: ([output, last]) => [
      output ?? {},
      { last: { ...(last?.['last'] as object), error: 'The model broke off.' } },
    ],
    of_events: (events) =>
      events.map((event) =>
        (event.data as { event?: string; error?: string }).error === undefined || event.namespace !== ''
          ? event
          : { ...event, data: { ...(event.data as object), error: 'The model broke off.' } },
      ),
  },
  'expected/v1-run': {
    of_seen: () => [
      {
        seen: [
          ['lifecycle', 'running'],
          ['values', null],
          ['values', null],
          ['values', null],
          ['lifecycle', 'completed'],
        ],
      },
    ],
  },
  // The part of the second run that the client reports depends on timing, so only the events are compared.
  'expected/two-runs': { of_seen: ([runs]) => [runs ?? {}, {}] },
  // The recorded server sends the end of the second run where the end of the third belongs.
  'golden/controller': {
    of_seen: (seen) => seen.filter((one, at) => at !== seen.length - 3 || !('completed' in one)),
  },
  'golden/since': { of_seen: () => [{ events: 15 }] },
  // Each refused command gets a separate answer, with a code of the specification (V-3).
  'golden/ws-errors': {
    of_seen: () => [
      {
        answers: [
          ...[null, null, null].map((id) => ({ type: 'error', id, error: 'invalid_argument' })),
          { type: 'error', id: 1, error: 'unknown_command' },
          { type: 'error', id: 2, error: 'invalid_argument' },
          { type: 'error', id: 3, error: 'invalid_argument' },
          { type: 'error', id: 4, error: 'no_such_subscription' },
          { type: 'error', id: 5, error: 'invalid_argument' },
        ],
      },
      { closed: [1005, ''] },
    ],
  },
  // A run that is joined over v1 has the events of v1, each once and in order (V-41).
  'faults/v1-join': {
    of_seen: () => [
      {
        'v1 events': [
          ...['metadata', 'checkpoints', 'values', 'checkpoints', 'tasks', 'updates', 'tasks', 'values'],
          ...['checkpoints', 'tasks', ...Array.from({ length: 6 }, () => 'messages'), 'updates', 'tasks'],
          ...['values', 'checkpoints'],
        ],
      },
    ],
  },
  'golden/commands': { of_seen: answersHere(), of_found: answersOf },
  'python-server/all-channels': {
    ...TEXT_KEPT,
    // LangGraph's Python server sends no events of this run on other channels.
    of_found: (seen) =>
      seen.map(({ methods }) => ({
        methods: (methods as string[]).filter((one) => ['lifecycle', 'values', 'messages'].includes(one)),
      })),
  },
  'python-server/commands': {
    // Weir sends the beginning of a subgraph before its first state.
    of_events: (events) => exchanged(ofPythonGraph(events), 2, 3),
    // LangGraph's Python server supports neither of these two commands.
    of_seen: answersHere([
      { 'agent.getTree': [200, { type: 'success', id: 50 }] },
      { 'state.get': [200, { type: 'success', id: 51 }] },
    ]),
    of_found: answersOf,
  },
  'python-server/controller': TEXT_KEPT,
  'python-server/cut-sse': TEXT_KEPT,
  // Weir sends the end of a run after its last state (V-19).
  'python-server/interrupt-respond': { of_events: (events) => exchanged(ofPythonGraph(events), 3, 4) },
  'python-server/next-turn': {
    of_seen: ([first]) => [
      first ?? {},
      { 'second (4 steps would be right)': ['plan', 'model', 'plan', 'model'] },
    ],
  },
  'python-server/start-sse': TEXT_KEPT,
  'python-server/subgraph': { of_events: (events) => exchanged(ofPythonGraph(events), 2, 3) },
  'python-server/v1-run': TEXT_KEPT,
  'python-server/ws-cut': TEXT_KEPT,
  'python-server/ws-run': TEXT_KEPT,
  'python-sdk/py-sse': TEXT_KEPT,
  'python-sdk/py-values': {
    ...TEXT_KEPT,
    // The first state is the thread's state at the moment when the client read it, so it depends on timing.
    of_seen: (seen) => seen.slice(1),
    of_found: (seen) => seen.slice(1),
  },
}
