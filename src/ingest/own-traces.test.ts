import { expect, it } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { AppError } from '../base/errors.ts'
import { createLogger } from '../base/log.ts'
import { createMetrics } from '../base/metrics.ts'
import type { RequestHead } from '../trace/decode/decoded.ts'
import type { Ingester } from './ingester.ts'
import { createOwnTraces } from './own-traces.ts'
import { NOW, testClock } from '../../test/support/faults/test-clock.ts'

const ORIGIN = { workspace_id: 'w', user_id: null, api_key_id: 'k' }

/** An ingester that fails with these errors in turn, and then accepts everything. */
function openOwnTraces(...failures: (AppError | undefined)[]) {
  const taken: { head: RequestHead; body: string }[] = []
  const ingester: Pick<Ingester, 'ingest'> = {
    async ingest(head, body) {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      taken.push({ head, body: new TextDecoder().decode(body) })
      return { accepted: 1, feedback: 0, rejected: [], truncated: false, warnings: [] }
    },
  }
  const metrics = createMetrics()
  const given = failures.length
  const traces = createOwnTraces({
    pausesMs: [1, 1, 1, 1],
    ingester: ingester as Ingester,
    limits: { max_body_bytes: 1, max_parts: 1, max_part_bytes: 1 },
    clock: testClock(),
    logger: createLogger({ level: 'silent' }),
    metrics,
  })
  return { traces, taken, metrics, failed: () => given - failures.length }
}

const BODY = new TextEncoder().encode('{"post":[]}')

it('is sent to the ingester as a batch of the caller', async () => {
  const { traces, taken } = openOwnTraces()
  traces.record(ORIGIN, BODY)
  await traces.flushed()
  expect(taken).toMatchObject([
    {
      head: {
        kind: 'batch',
        content_type: 'application/json',
        workspace_id: 'w',
        user_id: '00000000-0000-0000-0000-000000000000',
        api_key_id: 'k',
        received_at: NOW,
      },
      body: '{"post":[]}',
    },
  ])
})

it('is retried after an overload, and dropped after a permanent error', async () => {
  const { traces, taken, metrics } = openOwnTraces(new AppError('overloaded'), new AppError('log_full'))
  traces.record(ORIGIN, BODY)
  await traces.flushed()
  expect(taken.length).toBe(1)
  const refusing = openOwnTraces(new AppError('usage_limit_reached'), new AppError('invalid_json'))
  refusing.traces.record(ORIGIN, BODY)
  refusing.traces.record(ORIGIN, BODY)
  await refusing.traces.flushed()
  expect(refusing.taken).toEqual([])
  expect(refusing.metrics.render()).toContain('dropped_total{code="usage_limit_reached"} 1')
  expect(metrics.render()).toContain('weir_own_trace_batches_dropped_total 0')
})

it('is kept in memory while the disk is full, and stored once there is space', async () => {
  const failures = Array.from({ length: 30 }, () => new AppError('disk_full'))
  const { traces, taken, metrics } = openOwnTraces(...failures)
  traces.record(ORIGIN, BODY)
  await eventually(async () => expect(taken.length).toBe(1))
  await traces.flushed()
  expect(metrics.render()).toContain('weir_own_trace_batches_dropped_total 0')
})

it('is dropped, and counted, when the server ends before there is space', async () => {
  const failures = Array.from({ length: 5_000 }, () => new AppError('disk_full'))
  const { traces, taken, metrics, failed } = openOwnTraces(...failures)
  traces.record(ORIGIN, BODY)
  await eventually(async () => expect(failed()).toBeGreaterThan(9))
  await traces.flushed()
  expect(taken).toEqual([])
  expect(metrics.render()).toContain('dropped_total{code="disk_full"} 1')
})

const bodyOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const runOf = (run_id: string, deployment_id = 'd') => ({ deployment_id, run_id })

it('is stored together with those of other runs of its deployment that arrive meanwhile', async () => {
  const { traces, taken } = openOwnTraces()
  traces.record(ORIGIN, bodyOf('{"post":[1]}'), runOf('a'))
  traces.record(ORIGIN, bodyOf('{"post":[2]}'), runOf('b'))
  traces.record(ORIGIN, bodyOf('{"post":[3],"patch":[]}'), runOf('c'))
  traces.record(ORIGIN, bodyOf('{"patch":[4]}'), runOf('b'))
  traces.record({ ...ORIGIN, user_id: 'u' }, bodyOf('{"post":[5]}'), runOf('d'))
  traces.record(ORIGIN, bodyOf('{"post":[6]}'), runOf('e', 'other'))
  await traces.flushed()
  expect(taken.map(({ body }) => body).toSorted()).toEqual([
    '{"patch":[4]}',
    '{"post":[1]}',
    '{"post":[2],"post":[3],"patch":[]}',
    '{"post":[5]}',
    '{"post":[6]}',
  ])
})

it('is sent alone when the request of several is refused, or when one of them is no object', async () => {
  const { traces, taken, metrics } = openOwnTraces(
    undefined,
    new AppError('invalid_json'),
    new AppError('invalid_json'),
  )
  traces.record(ORIGIN, BODY, runOf('a'))
  traces.record(ORIGIN, bodyOf('{"post":[2]}'), runOf('b'))
  traces.record(ORIGIN, bodyOf('{"post":[3]}'), runOf('c'))
  await traces.flushed()
  expect(taken.map(({ body }) => body)).toEqual(['{"post":[]}', '{"post":[3]}'])
  expect(metrics.render()).toContain('dropped_total{code="invalid_json"} 1')
  const other = openOwnTraces()
  for (const [at, text] of ['{"post":[1]}', '{"post":[2]}', '[3]'].entries())
    other.traces.record(ORIGIN, bodyOf(text), runOf(`${at}`))
  await other.traces.flushed()
  expect(other.taken.map(({ body }) => body)).toEqual(['{"post":[1]}', '{"post":[2]}', '[3]'])
})

it('is retried together, and counted for each run when that does not help', async () => {
  const { traces, taken, metrics } = openOwnTraces(
    undefined,
    ...Array.from({ length: 5 }, () => new AppError('overloaded')),
  )
  for (const id of ['a', 'b', 'c']) traces.record(ORIGIN, BODY, runOf(id))
  await traces.flushed()
  expect(taken.length).toBe(1)
  expect(metrics.render()).toContain('dropped_total{code="overloaded"} 2')
})
