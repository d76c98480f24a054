import { describe, expect, it } from 'vitest'
import { parseTime } from '../derive/time.ts'
import { type FilteredThread, parseThreadFilter } from './thread-filter.ts'

const THREAD: FilteredThread = {
  thread_id: 'order-7',
  count: 3,
  num_errored_turns: 1,
  start_time: parseTime('2026-11-20T09:00:00Z')!,
  min_start_time: parseTime('2026-11-20T08:00:00Z')!,
  max_start_time: parseTime('2026-11-20T09:00:00Z')!,
  first_inputs: 'Where is my parcel?',
  last_outputs: 'It is on its way.',
  last_error: null,
  latency_p50: 1.5,
  latency_p95: 2.5,
  latency_p99: null,
  total_tokens: 700,
  total_cost: 0.25,
}

it.each([
  ['eq(thread_id, "order-7")', true],
  ['eq(count, 3)', true],
  ['neq(count, 3)', false],
  ['gt(count, 3)', false],
  ['gte(count, 3)', true],
  ['lt(total_cost, 0.25)', false],
  ['lte(total_cost, 0.25)', true],
  ['gt(latency_p50, "1s")', true],
  ['gt(latency_p50, "1501ms")', false],
  ['lt(latency_p50, "1m")', true],
  ['gt(latency_p50, 1.4)', true],
  ['lt(latency_p95, "2500ms")', false],
  ['gte(start_time, "2026-11-20T09:00:00Z")', true],
  ['lt(min_start_time, "2026-11-20T08:00:00Z")', false],
  ['in(thread_id, ["order-6", "order-7"])', true],
  ['in(count, [1, 2])', false],
  ['exists(last_error)', false],
  ['exists(first_inputs)', true],
  ['search("PARCEL")', true],
  ['search("refund")', false],
  ['and(gt(count, 1), gt(num_errored_turns, 0))', true],
  ['and(gt(count, 1), gt(num_errored_turns, 1))', false],
  ['or(gt(count, 5), gt(num_errored_turns, 0))', true],
  ['not(gt(count, 5))', true],
])('%s is %s', (text, holds) => {
  expect(parseThreadFilter(text)(THREAD)).toBe(holds)
})

describe('a comparison with a value that the thread does not have', () => {
  it.each(['gt(latency_p99, 0)', 'lte(latency_p99, 0)', 'eq(last_error, "")', 'in(last_error, [""])'])(
    '%s is false',
    (text) => expect(parseThreadFilter(text)(THREAD)).toBe(false),
  )
})

describe('is refused', () => {
  it.each([
    ['gt(color, 1)', 'is no field of threads'],
    ['matches(count, 1)', 'is no operator'],
    ['constructor(count, 1)', 'is no operator'],
    ['gt(count, "many")', 'expected a number'],
    ['gt(latency_p50, "5 weeks")', 'expected a seconds'],
    ['gt(start_time, "soon")', 'expected a time'],
    ['gt(start_time, 5)', 'expected a time'],
    ['gt(count)', 'takes 2 arguments'],
    ['exists(count, 1)', 'takes 1 argument.'],
    ['in(count, 1)', 'expected a list'],
    ['and(count)', 'expected a condition'],
    ['and()', 'needs conditions'],
  ])('%s', (text, reason) => {
    expect(() => parseThreadFilter(text)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(reason) }),
    )
  })
})
