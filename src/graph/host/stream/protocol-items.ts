import { V2_ENTRIES } from '../../../base/text/v2-entries.ts'
import type { StreamItem } from '../../../runs/execute/graph-host.ts'
import { graphJsonText } from '../json-text.ts'
import { type StreamItems, withGraphNode } from './stream-items.ts'

/** An event of LangGraph's `streamEvents` with version `v3`. */
export interface GraphEvent {
  method: string
  params: { namespace: readonly string[]; node?: string; data: unknown }
}

/** Metadata of model calls, as in mode `messages`, by the id of the call. */
export type CallMetadata = Pick<Map<string, object>, 'get' | 'delete'>

type Fields = Record<string, unknown>

interface Growing {
  /** Arguments of tool calls so far, by the index of their block. */
  args: Map<unknown, string>
  /** JSON text with which all entries of the message begin: `"id":…,"role":…,"node":…,`. */
  about: string
}

const CUSTOM = 'custom:'
/** Weir's own method for events with the data of mode `checkpoints` of v1. LangGraph's protocol has no such method. */
export const STATES = 'states'

/**
 * Converts events of LangGraph's protocol v2 to items of a run. Events that also exist in v1 are converted to items of
 * v1 by `items`, so that clients of both protocols read the same log (V-41).
 */
export function createProtocolItems(
  items: StreamItems,
  calls: CallMetadata,
): (event: GraphEvent) => StreamItem[] {
  const growing = new Map<string, Growing>()

  function ofMessage(namespace: readonly string[], node: string | undefined, data: Fields): StreamItem[] {
    const call = `${String(data['run_id'])} ${namespace.join('|')}`
    const isStart = data['event'] === 'message-start'
    if (isStart) growing.set(call, beginMessage(node, data))
    const message = growing.get(call)
    const about = message?.about ?? aboutText({ node })
    const tail = message && tailOf(message, data)
    const metadata = isStart ? metadataOf(calls, namespace, node, data) : undefined
    if (data['event'] === 'message-finish' || data['event'] === 'error') growing.delete(call)
    const own =
      (metadata === undefined ? '' : `,"metadata":${graphJsonText(metadata)}`) +
      (tail === undefined ? '' : `,"tail":${JSON.stringify(tail)}`)
    const text = `{${about}"data":${isText(data) ? JSON.stringify(data) : graphJsonText(data)}${own}}`
    return [{ event: named(V2_ENTRIES.messages, namespace), data: text }]
  }

  return ({ method, params: { namespace, node, data } }) => {
    switch (method) {
      case 'messages':
        return ofMessage(namespace, node, data as Fields)
      case 'lifecycle':
        // The events of the root are left out, because the server makes them itself (V-18).
        return namespace.length === 0 ? [] : [entryOf(V2_ENTRIES.lifecycle, namespace, data)]
      case 'checkpoints':
        return [entryOf(V2_ENTRIES.checkpoints, namespace, data)]
      case STATES:
        return items
          .ofChunk([namespace, 'checkpoints', data])
          .map((item) => ({ ...item, event: named(V2_ENTRIES.states, namespace) }))
      case 'updates':
        return items.ofChunk([namespace, method, { [node ?? '']: (data as Fields)['values'] }])
      case 'custom':
        return items.ofChunk([namespace, method, customOf(data as Fields)])
      case 'tools':
        return items.ofChunk([namespace, method, toolOf(data as Fields)])
      default:
        if (!method.startsWith(CUSTOM)) return items.ofChunk([namespace, method, data])
        return [
          entryOf(V2_ENTRIES.custom, namespace, { name: method.slice(CUSTOM.length), payload: data ?? null }),
        ]
    }
  }
}

/**
 * The metadata of a model call, in the form of mode `messages`. `data` is the event with which the call's message
 * begins.
 */
function metadataOf(
  calls: CallMetadata,
  namespace: readonly string[],
  node: string | undefined,
  data: Fields,
): object {
  const call = String(data['run_id'])
  const known = calls.get(call)
  calls.delete(call)
  return withGraphNode(
    known ?? {
      langgraph_node: node,
      langgraph_checkpoint_ns: namespace.join('|'),
      checkpoint_ns: namespace.join('|'),
    },
  )
}

function beginMessage(node: string | undefined, { id, role }: Fields): Growing {
  return { args: new Map(), about: aboutText({ id, role, node }) }
}

function aboutText(about: object): string {
  const text = JSON.stringify(about)
  return text === '{}' ? '' : `${text.slice(1, -1)},`
}

/** Whether the event adds text to a message. Most events do. Their data are plain, so JSON.stringify can print them. */
function isText({ event, delta }: Fields): boolean {
  return event === 'content-block-delta' && typeof (delta as Fields)['text'] === 'string'
}

function named(event: string, namespace: readonly string[]): string {
  return namespace.length === 0 ? event : `${event}|${namespace.join('|')}`
}

function entryOf(event: string, namespace: readonly string[], data: unknown): StreamItem {
  return { event: named(event, namespace), data: graphJsonText(data) }
}

/**
 * Returns the text that a delta adds to the arguments of a tool call; undefined for other deltas. Some deltas of
 * LangGraph contain only the new text, others the whole text of the arguments so far.
 */
function tailOf({ args }: Growing, { event, index, delta }: Fields): string | undefined {
  if (event !== 'content-block-delta') return undefined
  const { type, args: added, fields } = delta as { type: string; args?: string; fields?: Fields }
  if (type === 'tool-call-delta') return added
  const whole = fields?.['type'] === 'tool_call_chunk' ? fields['args'] : undefined
  if (typeof whole !== 'string') return undefined
  const before = args.get(index) ?? ''
  args.set(index, whole)
  return whole.startsWith(before) ? whole.slice(before.length) : whole
}

/** Custom data as the node wrote them. */
function customOf(data: Fields): unknown {
  return 'name' in data ? data : data['payload']
}

const TOOL_EVENTS: Readonly<Record<string, string>> = {
  'tool-started': 'on_tool_start',
  'tool-output-delta': 'on_tool_event',
  'tool-finished': 'on_tool_end',
  'tool-error': 'on_tool_error',
}

/** Converts an event of a tool to the form of mode `tools`. */
function toolOf({ event, tool_call_id, tool_name, input, delta, output, message }: Fields): object {
  return {
    event: TOOL_EVENTS[String(event)] ?? event,
    toolCallId: tool_call_id,
    ...(tool_name !== undefined && { name: tool_name }),
    ...(input !== undefined && { input }),
    ...(delta !== undefined && { data: delta }),
    ...(output !== undefined && { output }),
    ...(message !== undefined && { error: { message } }),
  }
}
