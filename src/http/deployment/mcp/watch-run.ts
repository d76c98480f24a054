import { unlessAborted } from '../../../base/pause.ts'
import { RpcFault } from '../../mcp/message.ts'
import type { Batch } from '../../../events/event-log.ts'
import type { Call } from '../../../runs/runs.ts'
import type { Streams } from '../../../runs/streams/streams.ts'
import type { JsonValue } from '../../../schema/json.ts'
import { lastAnswer } from '../a2a/content.ts'
import { ANSWER_MS } from './asked-state.ts'

interface Place {
  thread_id: string
  run_id: string
  gone: AbortSignal
}

/** Characters of a text that progress shows, its last ones. */
const MAX_TOLD = 200
/** The begin of the data of `tasks`, which also has the whole input of the node. */
const NODE = /^\{"id":"[^"]*","name":("(?:[^"\\]|\\.)*")/

/** Tells the node that a run executes, and the text that it writes; returns a function that stops it. */
export function tellProgress(
  streams: Pick<Streams, 'joinRun'>,
  call: Call,
  { thread_id, run_id, gone }: Place,
  tell: (text: string) => void,
): () => void {
  const stop = new AbortController()
  const joining = {
    from: 'start',
    modes: ['tasks', 'messages'],
    gone: AbortSignal.any([gone, stop.signal]),
    cancel_on_disconnect: false,
  } as const
  const read = async (): Promise<void> => {
    const stream = await streams.joinRun(call, thread_id, run_id, joining)
    try {
      for await (const batch of stream.batches) {
        const text = toldBy(batch)
        if (text !== undefined && !stop.signal.aborted) tell(text)
      }
    } finally {
      stream.close()
    }
  }
  // Without progress the call goes on.
  read().catch(() => undefined)
  return () => stop.abort()
}

/** What the newest event of a batch says: the text so far, or the name of a node. */
export function toldBy(batch: Batch): string | undefined {
  for (const item of batch.toReversed()) {
    if ('gap' in item) continue
    if (item.event === 'tasks') {
      const [, name] = NODE.exec(item.data) ?? []
      if (name !== undefined) return JSON.parse(name) as string
    }
    if (!item.event.startsWith('messages/partial')) continue
    const parts = lastAnswer(JSON.parse(item.data) as JsonValue)?.parts ?? []
    const text = parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('')
    if (text !== '') return text.slice(-MAX_TOLD)
  }
  return undefined
}

/**
 * Watches a thread from now on. `run` is the id of the next one after `run_id`; undefined if none comes in the time for
 * answers, or the thread is deleted.
 */
export async function nextRun(
  streams: Pick<Streams, 'joinThread'>,
  call: Call,
  { thread_id, run_id, gone }: Place,
): Promise<{ run: Promise<string | undefined> }> {
  const joining = {
    from: 'now',
    modes: ['lifecycle'],
    gone: AbortSignal.any([gone, AbortSignal.timeout(ANSWER_MS)]),
  } as const
  const stream = await streams.joinThread(call, thread_id, joining)
  const read = async (): Promise<string | undefined> => {
    try {
      for await (const batch of stream.batches)
        for (const item of batch)
          if (!('gap' in item) && item.run_id !== null && item.run_id !== run_id) return item.run_id
      return undefined
    } finally {
      stream.close()
    }
  }
  const run = read()
  // Nobody waits for it when the client leaves.
  run.catch(() => undefined)
  return { run }
}

/** The value; @throws RpcFault internal when the client leaves before it is there */
export function whileHere<T>(value: Promise<T>, gone: AbortSignal): Promise<T> {
  return unlessAborted(value, gone, () => new RpcFault('internal', 'The client has left.'))
}
