import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { AppError } from '../../../base/errors.ts'
import type { Following, ProtocolItem } from '../../../runs/streams-v2/follow/follow-thread.ts'
import type { DeploymentContext } from '../route.ts'
import { Subscriptions } from './subscriptions.ts'

const EVENT = { id: '1-1', run_id: 'r', seq: 7, timestamp: 1, method: 'custom', namespace: [], data: '1' }
const GAP = { requested: '2', oldest: '6' }

/** A thread with an empty replay, and with `batch` as its new events. With `refusal`, its streams are refused. */
function threadWith(batch: readonly ProtocolItem[], refusal?: AppError) {
  const streamed = { opened: 0, closed: 0, read: 0 }
  const streams = {
    lastSeq: async () => 1,
    async followThread(_call: unknown, _thread: string, { until }: Partial<Following>) {
      if (refusal !== undefined) throw refusal
      streamed.opened++
      return {
        batches: (async function* () {
          streamed.read++
          if (until === undefined) yield batch
        })(),
        close: () => void streamed.closed++,
      }
    },
  }
  const registry = { check: (_name: string, value: object) => ({ ok: true, value }) }
  const context = {
    deps: { streams, registry, headersFor: () => ({}) },
    principal: {},
    req: {},
  } as unknown as DeploymentContext
  return { context, streamed }
}

const WANTED = { channels: ['custom'] }

it('a socket that closes while a subscription is added starts no reader (V-39)', async () => {
  const { context, streamed } = threadWith([])
  const subscriptions = new Subscriptions('t', { send: async () => true }, () => undefined)
  const adding = subscriptions.add(context, WANTED)
  subscriptions.close()
  const { begin } = await adding
  begin()
  await setImmediate()
  expect(streamed).toEqual({ opened: 1, closed: 1, read: 0 })
})

it('a subscription is refused before it has an answer (V-35, V-44)', async () => {
  const { context } = threadWith([], new AppError('forbidden'))
  const subscriptions = new Subscriptions('t', { send: async () => true }, () => undefined)
  await expect(subscriptions.add(context, WANTED)).rejects.toMatchObject({ code: 'forbidden' })
})

it('a gap at the beginning of what is new is sent, with the events after it (V-30, V-35)', async () => {
  const { context } = threadWith([GAP, EVENT] as unknown as ProtocolItem[])
  const sent: string[] = []
  const ended = Promise.withResolvers<unknown>()
  const sender = { send: async (text: string) => sent.push(text) > 0 }
  const { begin } = await new Subscriptions('t', sender, ended.resolve).add(context, WANTED)
  begin()
  await ended.promise
  expect(sent).toEqual([JSON.stringify(GAP), expect.stringContaining('"custom"')])
})
