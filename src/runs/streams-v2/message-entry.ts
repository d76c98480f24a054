import type { StoredEvent } from '../../events/event-log.ts'
import { membersOf } from './json-members.ts'
import { type ProtocolEvent, seqOf } from './protocol-event.ts'

/**
 * Creates a function that converts the log entries `v2/messages` of a thread to their events. There is one such entry
 * for each token, so entries of the common form are not parsed (V-48).
 */
export function createMessageReader(): (entry: StoredEvent, run_id: string) => ProtocolEvent {
  // The entries of one message usually follow each other. They have the same name, and the same text before `data`.
  let name: { event: string; namespace: readonly string[] } = { event: '', namespace: [] }
  let about: { text: string; node: string | undefined } = { text: '', node: undefined }

  return ({ id, position, event, data: entry }, run_id) => {
    if (event !== name.event) name = { event, namespace: event.split('|').slice(1) }
    const begin = entry.indexOf(DATA)
    const head = entry.slice(0, begin)
    if (head !== about.text) about = { text: head, node: nodeOf(head) }
    const { namespace } = name
    const { node } = about
    return {
      id,
      run_id,
      event_id: id,
      seq: seqOf(position, 0),
      // The id begins with the milliseconds.
      timestamp: Number.parseInt(id, 10),
      method: 'messages',
      namespace,
      data: dataOf(entry, begin + DATA.length),
      ...(node !== undefined && { node }),
    }
  }
}

/**
 * The key of the event in an entry. It cannot occur earlier: the members before it are strings, in which quotes are
 * escaped.
 */
const DATA = '"data":'
/** Members that may follow the event. The event itself may contain such text as well. */
const LATER = [',"metadata":', ',"tail":']

/** The event, whose text begins at `begin` and usually ends with the entry. */
function dataOf(entry: string, begin: number): string {
  const isLast = LATER.every((key) => !entry.includes(key, begin))
  return isLast ? entry.slice(begin, -1) : (membersOf(entry)?.get('data') ?? 'null')
}

/**
 * The node that `head` names. `head` is the text of an entry before the event: `{"id":…,"role":…,"node":…,` or a part
 * of that.
 */
function nodeOf(head: string): string | undefined {
  if (head === '{') return undefined
  return (JSON.parse(`${head.slice(0, -1)}}`) as { node?: string }).node
}
