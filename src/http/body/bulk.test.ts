import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../schema/json.ts'
import { toJsonText } from '../../schema/raw-json.ts'
import { mayBeLarge, putBulk, takeBulk } from './bulk.ts'

const LARGE = { text: 'x'.repeat(100_000), n: [1, 2] }
const SMALL = { text: 'y' }

describe('RUN-36: large values of a body', () => {
  it.each([
    ['run-create', { assistant_id: 'a', input: LARGE, command: { update: LARGE }, metadata: { n: 1 } }, 2],
    ['run-create', { assistant_id: 'a', input: 'z'.repeat(100_000) }, 1],
    [
      'run-batch',
      [
        { assistant_id: 'a', input: LARGE },
        { assistant_id: 'b', input: SMALL },
      ],
      1,
    ],
    ['thread-create', { supersteps: [LARGE, SMALL, LARGE] }, 2],
    ['thread-state-update', { values: [LARGE] }, 1],
    ['store-item-write', { namespace: ['a'], key: 'k', value: LARGE }, 1],
    ['store-item-write', { namespace: ['a'], key: 'k', value: SMALL }, 0],
  ] as const)('of %s are passed as text, and the body is not changed', (schema, sent, count) => {
    const text = JSON.stringify(sent)
    const lean = takeBulk(schema, JSON.parse(text) as JsonValue)
    expect(lean.large).toHaveLength(count)
    expect(JSON.stringify(lean.body).length).toBeLessThan(1000)
    expect(toJsonText(putBulk(structuredClone(lean)))).toBe(text)
  })

  it.each([
    ['run-batch', Array.from({ length: 40 }, () => ({ assistant_id: 'a', input: 'x'.repeat(30_000) }))],
    ['thread-create', { supersteps: Array.from({ length: 100 }, () => ({ updates: ['x'.repeat(20_000)] })) }],
  ] as const)('of %s are also many of medium size', (schema, sent) => {
    const text = JSON.stringify(sent)
    const lean = takeBulk(schema, JSON.parse(text) as JsonValue)
    expect(JSON.stringify(lean.body).length).toBeLessThan(10_000)
    expect(toJsonText(putBulk(structuredClone(lean)))).toBe(text)
  })

  it('are only allowed in values that the server does not read', () => {
    const metadata = { text: 'x'.repeat(2_000_000) }
    expect(() => takeBulk('run-create', { assistant_id: 'a', input: LARGE, metadata })).toThrow(
      /Besides input and command, the body may have 1 MiB/,
    )
    const many = Array.from({ length: 600_000 }, () => [])
    expect(() => takeBulk('thread-create', { supersteps: many })).toThrow(/Besides supersteps/)
    expect(mayBeLarge('thread-update')).toBe(false)
  })
})
