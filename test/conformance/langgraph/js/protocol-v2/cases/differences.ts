import type { Shape } from './shapes.ts'

type Seen = Record<string, unknown>[]

/** The intended differences from a recorded session, as changes of the recording. */
export interface Difference {
  of_seen?(seen: Seen): Seen
  of_events?(events: Shape[]): Shape[]
}

/** Sessions whose events differ with the timing of the client: in the number of tokens, or in the runs of a stream. */
export const EVENTS_DEPEND_ON_TIME: ReadonlySet<string> = new Set([
  'golden/cancel-v1',
  'golden/controller',
  'expected/controller',
  // A run that was created over v1 shows only its stream modes (V-42); the recording shows all modes.
  'expected/controller-hydrate',
  'expected/controller-other',
  'expected/controller-queue',
  'expected/v1-run',
  // This runtime sends the state once more when a run resumes.
  'golden/interrupts-batch',
  // The script closes the stream of v2 once that of v1 has ended, so the last events may not have come.
  'faults/v1-join',
  // Numbers of events are larger here, so all events come after the number in `since`.
  'golden/since',
])

function without(...keys: string[]): (seen: Seen) => Seen {
  return (seen) => seen.filter((one) => !keys.some((key) => key in one))
}

/** This runtime sends deltas of the arguments of tool calls (V-20), and results of tools without an id. */
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

export const DIFFERENCES: Readonly<Record<string, Difference>> = {
  'golden/all-channels': { of_events: newerTools },
  'golden/tool-calls': { of_events: newerTools },
  'golden/failure': {
    // The message of a failure is plain text (V-18).
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
  // How much of the second run the client shows depends on timing, so only the events are compared.
  'expected/two-runs': { of_seen: ([runs]) => [runs ?? {}, {}] },
  // The recorded server sends the end of the second run in place of the end of the third.
  'golden/controller': {
    of_seen: (seen) => seen.filter((one, at) => at !== seen.length - 3 || !('completed' in one)),
  },
  'golden/since': { of_seen: () => [{ events: 15 }] },
  // Each refused command has an answer of its own, with a code of the specification (V-3).
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
  // Joined over v1 it has the events of v1, once each, and in their order (V-41).
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
  'golden/commands': { of_seen: without('state.listCheckpoints') },
}
