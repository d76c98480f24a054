import type { Call } from '../../runs.ts'
import type { Streams } from '../../streams/streams.ts'
import type { ProtocolEvent } from '../protocol-event.ts'

export interface ReadDeps {
  streams: Pick<Streams, 'lastSeq' | 'followThread'>
}

/** The events of these channels in the log of a thread. */
export async function keptEvents(
  { streams }: ReadDeps,
  call: Call,
  thread_id: string,
  channels: readonly string[],
): Promise<ProtocolEvent[]> {
  const end = new AbortController()
  const until = await streams.lastSeq(call, thread_id)
  const filter = { channels, namespaces: [] }
  const following = { filter, after: 0, until: () => until, gone: end.signal }
  const stream = await streams.followThread(call, thread_id, following)
  const found: ProtocolEvent[] = []
  try {
    for await (const batch of stream.batches)
      for (const item of batch) if (!('oldest' in item)) found.push(item)
  } finally {
    end.abort()
    stream.close()
  }
  return found
}
