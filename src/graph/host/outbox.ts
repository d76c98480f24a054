import type { StreamItem } from '../../runs/execute/graph-host.ts'
import type { Channel } from '../pool/channel.ts'
import type { FromHost } from '../pool/messages.ts'

/** A batch with this number of items is sent at once, before the turn of the event loop ends. */
const BATCH_ITEMS = 64
/** Likewise a batch with this number of characters: the server ends a host that sends a frame of more than 256 MiB. */
const BATCH_CHARS = 8 << 20

/** Items of jobs that wait to be sent. */
export interface Outbox {
  add(id: number, items: StreamItem[]): void
  flush(): void
}

/**
 * Collects the items of a turn of the event loop and sends one frame for each job; several frames during a long turn.
 */
export function createOutbox(channel: Pick<Channel<FromHost>, 'send'>): Outbox {
  let job = 0
  let batch: StreamItem[] = []
  let chars = 0
  let scheduled = false

  function flush(): void {
    if (batch.length === 0) return
    const events = batch.map((item) => item.event)
    const parts = batch.map((item) => item.data)
    batch = []
    chars = 0
    channel.send({ type: 'items', id: job, events }, parts)
  }

  return {
    flush,
    add(id, items) {
      if (id !== job) flush()
      job = id
      for (const item of items) {
        batch.push(item)
        chars += item.data.length
        if (batch.length >= BATCH_ITEMS || chars >= BATCH_CHARS) flush()
      }
      if (scheduled || batch.length === 0) return
      scheduled = true
      setImmediate(() => {
        scheduled = false
        flush()
      })
    },
  }
}
