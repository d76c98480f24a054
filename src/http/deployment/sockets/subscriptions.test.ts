import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { ProtocolItem } from '../../../runs/streams-v2/follow/follow-thread.ts'
import type { DeploymentContext } from '../route.ts'
import { createSubscriptions } from './subscriptions.ts'

const EVENT = { id: '1-1', run_id: 'r', seq: 7, timestamp: 1, method: 'custom', namespace: [], data: '1' }
const GAP = { requested: '2', oldest: '6' }

/** A thread whose replay is empty and whose new part is the given batch. */
function threadWith(batch: readonly ProtocolItem[]) {
  const followed: unknown[] = []
  const streams = {
    lastSeq: async () => 1,
    async followThread(_call: unknown, _thread: string, { until }: { until?: number }) {
      followed.push(until)
      return {
        batches: (async function* () {
          if (until === undefined) yield batch
        })(),
        close: () => undefined,
      }
    },
  }
  const registry = { check: (_name: string, value: object) => ({ ok: true, value }) }
  const context = {
    deps: { streams, registry, headersFor: () => ({}) },
    principal: {},
    req: {},
  } as unknown as DeploymentContext
  return { context, followed }
}

const WANTED = { channels: ['custom'] }

it('a socket that closes while a subscription is added starts no reader (V-39)', async () => {
  const { context, followed } = threadWith([])
  const subscriptions = createSubscriptions('t', { send: async () => true }, () => undefined)
  const adding = subscriptions.add(context, WANTED)
  subscriptions.close()
  const { begin } = await adding
  begin()
  await setImmediate()
  expect(followed).toEqual([])
})

it('a gap at the beginning of what is new is sent, with the events after it (V-30, V-35)', async () => {
  const { context } = threadWith([GAP, EVENT] as unknown as ProtocolItem[])
  const sent: string[] = []
  const ended = Promise.withResolvers<unknown>()
  const sender = { send: async (text: string) => sent.push(text) > 0 }
  const { begin } = await createSubscriptions('t', sender, ended.resolve).add(context, WANTED)
  begin()
  await ended.promise
  expect(sent).toEqual([JSON.stringify(GAP), expect.stringContaining('"custom"')])
})
