import { V2_ENTRIES } from '../../base/text/v2-entries.ts'
import type { StoredEvent } from '../../events/event-log.ts'
import { parseEventId } from '../../events/id.ts'
import { RUN_BEGUN, RUN_DONE, RUN_ENDING, RUN_STOPPED, STATE_UPDATE } from '../../events/views.ts'
import { parseExact } from '../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import { interruptsIn, type PendingInterrupt } from './interrupts.ts'
import { membersOf } from './json-members.ts'
import { type BlockEvent, createMessageBlocks, type MessageBlocks } from './message-blocks.ts'
import { createMessageReader } from './message-entry.ts'
import { type ProtocolEvent, seqOf } from './protocol-event.ts'
import { isWork } from './run-entries.ts'
import { createSubgraphLifecycle, type SubgraphEvent, type SubgraphLifecycle } from './subgraph-lifecycle.ts'
import { toolEvent } from './tool-event.ts'

/** A run that has begun and not ended in the part of the log that was read. */
interface OpenRun {
  /** Empty if the log no longer has the beginning of the run. */
  graph_name: string
  /** The failure that the end event reports; undefined until an `error` entry was read. */
  failure: Failure | undefined
  /** Ids of interrupts that were sent. */
  asked: Set<string>
  interrupts: PendingInterrupt[]
  stopped: boolean
  /** Whether the event about the run's answers was sent. */
  answered: boolean
  /** False for a run that ends without an attempt. */
  begun: boolean
  /** True if entries after the last one that was read are no longer kept. The end of the run may be among them. */
  mayBeOver: boolean
  messages: MessageBlocks
  /** Undefined if the log itself contains the events of subgraphs. */
  subgraphs: SubgraphLifecycle | undefined
}

/**
 * The error message. If answers were refused, also the reason, the interrupts that were answered and those that wait.
 */
interface Failure extends JsonObject {
  error: string
}

/** The parts of an event that are not copied from its entry in the log. */
type Draft = Pick<ProtocolEvent, 'method' | 'namespace' | 'data'> &
  Partial<Pick<ProtocolEvent, 'event_id' | 'node' | 'name' | 'run_id'>>

/** The state of the conversion between two entries. */
interface Unfinished {
  open: Map<string, OpenRun>
  /**
   * Ends of runs that never began. They are sent after the end of the run that is still active, because clients take
   * the end of any run for the end of the run that they show.
   */
  ends: Draft[]
}

/**
 * Converts the entries of a thread's log to events of protocol v2. An entry gives the same events for every reader that
 * has read its run from the first entry on.
 */
export function createConverter(): (entry: StoredEvent) => readonly ProtocolEvent[] {
  const unfinished: Unfinished = { open: new Map(), ends: [] }
  const { open } = unfinished
  const messageEvent = createMessageReader()
  let isBefore = true
  let next: number | undefined
  return (entry) => {
    const { id, position, run_id } = entry
    if (next !== undefined && position > next) for (const run of open.values()) run.mayBeOver = true
    next = position + 1
    if (run_id === null || entry.event === STATE_UPDATE) return []
    if (entry.event === RUN_BEGUN) isBefore = false
    // The log no longer has the beginning of this run, so the run counts as begun here. This is done only before the
    // first beginning in the log. After it, an entry without a beginning is skipped: its run began before the reader's
    // position.
    else if (isBefore && !open.has(run_id) && isWork(entry)) open.set(run_id, newRun(''))
    const run = entry.event.startsWith(V2_ENTRIES.messages) ? open.get(run_id) : undefined
    if (run !== undefined) {
      run.mayBeOver = false
      const known = converted.get(entry) ?? [messageEvent(entry, run_id)]
      converted.set(entry, known)
      return known
    }
    const drafts = draftsOf(unfinished, run_id, entry)
    if (unfinished.ends.length > 0 && !goesOn(open)) drafts.push(...unfinished.ends.splice(0))
    const [timestamp] = parseEventId(id)
    return drafts.map(({ event_id, ...draft }, k) => ({
      id,
      run_id,
      event_id: event_id ?? (k === 0 ? id : `${id}.${k}`),
      seq: seqOf(position, k),
      timestamp,
      ...draft,
    }))
  }
}

/**
 * Events of entries that do not depend on earlier entries. Most entries are of this kind; their events are made once
 * for all readers.
 */
const converted = new WeakMap<StoredEvent, readonly ProtocolEvent[]>()

function draftsOf(unfinished: Unfinished, run_id: string, { event, data }: StoredEvent): Draft[] {
  const { open } = unfinished
  if (event === RUN_BEGUN) return begin(open, run_id, JSON.parse(data) as Begun)
  if (event === RUN_ENDING) {
    const { graph_name } = JSON.parse(data) as { graph_name: string }
    if (!open.has(run_id)) open.set(run_id, { ...newRun(graph_name), begun: false })
    return []
  }
  const run = open.get(run_id)
  // The entry belongs to a run that began before the position of the reader.
  if (run === undefined) return []
  run.mayBeOver = false
  if (event === RUN_DONE) {
    open.delete(run_id)
    return endsNow(unfinished, run, end(run_id, run, (JSON.parse(data) as { run_status: string }).run_status))
  }
  if (event === RUN_STOPPED) {
    run.stopped = true
    run.interrupts = (parseExact(data) as unknown as { interrupts: PendingInterrupt[] }).interrupts
    return []
  }
  if (event === 'error') {
    run.failure = failureOf(data)
    return []
  }
  const [mode = '', ...namespace] = event.split('|')
  const drafts = ofMode(run_id, run, mode, { namespace, data })
  if (run.subgraphs === undefined) return drafts
  const begun = run.subgraphs.begun(namespace)
  const ended = mode === 'tasks' ? run.subgraphs.ended(namespace, data) : []
  return [...begun.map(ofSubgraph(run_id)), ...drafts, ...ended.map(ofSubgraph(run_id))]
}

/** Whether a run has begun and, as far as the log was read, not ended. */
function goesOn(open: ReadonlyMap<string, OpenRun>): boolean {
  return [...open.values()].some(({ begun, mayBeOver }) => begun && !mayBeOver)
}

/**
 * The end events to send when a run ends: its own, and those that waited for it. None if the run never began and
 * another run is still active: its end then waits.
 */
function endsNow({ open, ends }: Unfinished, { begun }: OpenRun, own: Draft[]): Draft[] {
  if (begun || !goesOn(open)) return [...own, ...ends.splice(0)]
  ends.push(...own)
  return []
}

function ofSubgraph(run_id: string): (event: SubgraphEvent) => Draft {
  return ({ namespace, event, graph_name }) => lifecycle(run_id, event, { graph_name }, '', namespace)
}

interface Begun {
  graph_name: string
  attempt: number
  answered: string[]
  /** Language of the graph; undefined in entries of earlier versions. */
  language?: string
}

function begin(
  open: Map<string, OpenRun>,
  run_id: string,
  { graph_name, attempt, answered, language }: Begun,
): Draft[] {
  const isPython = language === 'python'
  const run = newRun(graph_name, createMessageBlocks(isPython))
  // A later attempt gives the same answers, so the event about them is sent only once.
  const wasAnswered = open.get(run_id)?.answered ?? false
  open.set(run_id, {
    ...run,
    answered: wasAnswered || answered.length > 0,
    subgraphs: isPython ? createSubgraphLifecycle() : undefined,
  })
  const suffix = attempt > 1 ? `|${attempt}` : ''
  const running = lifecycle(run_id, `running`, { graph_name }, suffix)
  if (wasAnswered || answered.length === 0) return [running]
  const event_id = `synth:${run_id}:answered||${answered.join()}`
  const data = JSON.stringify({ interrupt_ids: answered })
  return [running, { method: 'input.answered', namespace: [], event_id, data }]
}

/**
 * `messages` is undefined for a run whose beginning is not in the log. Its messages cannot be converted, because a
 * chunk does not show how its message began.
 */
function newRun(graph_name: string, messages?: MessageBlocks): OpenRun {
  return {
    graph_name,
    failure: undefined,
    asked: new Set(),
    interrupts: [],
    stopped: false,
    answered: false,
    begun: true,
    mayBeOver: false,
    messages: messages ?? NO_MESSAGES,
    subgraphs: undefined,
  }
}

const NO_MESSAGES: MessageBlocks = {
  ofTuple: () => [],
  started: () => undefined,
  updated: () => [],
  stepped: () => [],
  finish: () => [],
}

function lifecycle(
  run_id: string,
  event: string,
  facts: JsonObject,
  suffix = '',
  namespace: string[] = [],
): Draft {
  const data = JSON.stringify({ event, ...facts })
  const event_id = `synth:${run_id}:lc|${namespace.join('|')}|${event}${suffix}`
  return { method: 'lifecycle', namespace, event_id, data }
}

function end(run_id: string, run: OpenRun, status: string): Draft[] {
  const { graph_name, failure = { error: UNNAMED } } = run
  const hasFailed = status === 'error' || status === 'timeout'
  const event = hasFailed ? 'failed' : status === 'success' && !run.stopped ? 'completed' : 'interrupted'
  const drafts: Draft[] = [
    ...run.messages.finish().map(ofBlock),
    ...run.interrupts.flatMap((interrupt) => requested(run_id, run, [], interrupt)),
    ...(run.subgraphs?.end(event) ?? []).map(ofSubgraph(run_id)),
    lifecycle(run_id, event, { graph_name, ...(hasFailed && failure) }),
  ]
  // The events name their run, because an end that waited is sent with the entry of another run.
  return drafts.map((draft) => ({ ...draft, run_id }))
}

/** An interrupt is sent once, with its value under both names that clients read (V-23). */
function requested(
  run_id: string,
  run: OpenRun,
  namespace: string[],
  { id, value }: PendingInterrupt,
): Draft[] {
  if (run.asked.has(id)) return []
  run.asked.add(id)
  return [requestDraft(run_id, namespace, { id, value })]
}

/** The event about an interrupt that waits for an answer. */
export function requestDraft(run_id: string, namespace: string[], { id, value }: PendingInterrupt) {
  const event_id = `synth:${run_id}:input|${namespace.join('|')}|${id}`
  return {
    method: 'input.requested',
    namespace,
    event_id,
    data: JSON.stringify({ interrupt_id: id, payload: value, value }),
  }
}

function ofBlock({ namespace, node, data }: BlockEvent): Draft {
  return { method: 'messages', namespace, data: JSON.stringify(data), ...(node !== undefined && { node }) }
}

const INTERRUPT = '__interrupt__'

function ofMode(
  run_id: string,
  run: OpenRun,
  mode: string,
  { namespace, data }: { namespace: string[]; data: string },
): Draft[] {
  const ask = (list: string | undefined): Draft[] =>
    list === undefined
      ? []
      : interruptsIn(parseExact(list) as unknown[]).flatMap((one) => requested(run_id, run, namespace, one))
  switch (mode) {
    case 'values':
      return [...run.messages.stepped(namespace).map(ofBlock), ...ofValues(namespace, data, ask)]
    case 'updates':
      return [...(membersOf(data) ?? [])].flatMap(([node, update]) =>
        node === INTERRUPT
          ? ask(update)
          : [
              ...run.messages.updated(namespace, node, update).map(ofBlock),
              { method: 'updates', namespace, node, data: update },
            ],
      )
    case 'messages':
      return run.messages.ofTuple(data).map(ofBlock)
    case 'custom':
      return [ofCustom(namespace, data)]
    case 'tools':
      return [{ method: 'tools', namespace, data: JSON.stringify(toolEvent(parseExact(data) as JsonObject)) }]
    case 'tasks':
      run.messages.started(namespace, data)
      return [{ method: 'tasks', namespace, data }]
    case 'checkpoints':
      return [{ method: 'checkpoints', namespace, data: checkpointOf(data) }]
    case V2_ENTRIES.checkpoints:
      return [{ method: 'checkpoints', namespace, data }]
    case V2_ENTRIES.lifecycle:
      return [{ method: 'lifecycle', namespace, data }]
    case V2_ENTRIES.custom:
      return [ofCustom(namespace, data)]
    default:
      return []
  }
}

function ofValues(namespace: string[], data: string, ask: (list: string | undefined) => Draft[]): Draft[] {
  if (!data.includes(`"${INTERRUPT}"`)) return [{ method: 'values', namespace, data }]
  const members = membersOf(data) ?? new Map<string, string>()
  const asked = ask(members.get(INTERRUPT))
  members.delete(INTERRUPT)
  if (members.size === 0) return asked
  const rest = [...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`)
  return [{ method: 'values', namespace, data: `{${rest.join()}}` }, ...asked]
}

function ofCustom(namespace: string[], data: string): Draft {
  const named = membersOf(data)?.get('name')
  if (named === undefined) return { method: 'custom', namespace, data: `{"payload":${data}}` }
  const name = JSON.parse(named) as JsonValue
  return { method: 'custom', namespace, data, ...(typeof name === 'string' && { name }) }
}

/** The id and the position of a checkpoint, taken from an event of mode `checkpoints`. */
function checkpointOf(data: string): string {
  const members = membersOf(data)
  const read = (key: string): JsonObject => {
    const value = JSON.parse(members?.get(key) ?? 'null') as JsonValue
    return isObject(value) ? value : {}
  }
  const idOf = ({ configurable }: JsonObject): JsonValue | undefined =>
    isObject(configurable) ? configurable['checkpoint_id'] : undefined
  const { step, source } = read('metadata')
  const parent_id = idOf(read('parent_config'))
  return JSON.stringify({
    id: idOf(read('config')),
    ...(parent_id !== undefined && { parent_id }),
    step,
    source,
  })
}

/** Message for a failure that has no message. */
const UNNAMED = 'The run failed.'

/**
 * Reads the failure from an `error` entry. If answers were refused, it names the interrupts, so that clients show them
 * again (V-13).
 */
function failureOf(data: string): Failure {
  const { message, reason, interrupt_ids, pending_ids } = JSON.parse(data) as JsonObject
  const error = typeof message === 'string' ? message : UNNAMED
  if (typeof reason !== 'string') return { error }
  return { error, reason, interrupt_ids: interrupt_ids ?? [], pending_ids: pending_ids ?? [] }
}
