import { expect, it } from 'vitest'
import { createMemoryEventLog } from '../../test/support/runs/streams/memory-event-store.ts'
import type { OpenEventLog } from './create-event-log.ts'
import { CHUNK_CHARS } from './event-store.ts'
import { systemClock } from '../base/clock.ts'

const THREAD = { workspace_id: 'w', deployment_id: 'd', thread_id: 't' }

async function append(log: OpenEventLog, event: string, data = ''): Promise<void> {
  await log.append(THREAD, [{ run_id: 'r', event, data }], null)
}

/** Names of the events that a new reader receives, up to `last`. */
async function namesUpTo(log: OpenEventLog, last: string): Promise<string[]> {
  const end = new AbortController()
  const names: string[] = []
  try {
    for await (const batch of log.read(THREAD, 'start', end.signal)) {
      for (const item of batch) names.push('gap' in item ? 'gap' : item.event)
      if (names.includes(last)) break
    }
    return names
  } finally {
    end.abort()
  }
}

it('a reader gets what was appended while there was no reader, also when it shares a page that is older', async () => {
  const log = createMemoryEventLog(systemClock)
  const large = 'x'.repeat(CHUNK_CHARS)
  await append(log, 'first', large)
  await append(log, 'second', large)
  // The page that this reader reads is kept for a second, so the next reader gets the same page.
  expect(await namesUpTo(log, 'first')).toEqual(['first'])
  await append(log, 'last')
  expect(await namesUpTo(log, 'last')).toEqual(['first', 'second', 'last'])
  await log.close()
})
