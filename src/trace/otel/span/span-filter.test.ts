import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../../test/support/cpu-bound.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { isFilteredOut, type SpanFilter } from './span-filter.ts'
import type { SpanRecord } from './span.ts'

function span(attributes: JsonObject = {}, changes: Partial<SpanRecord> = {}): SpanRecord {
  return {
    trace_id: '5b8efff798038103d269b633813fc60c',
    span_id: 'eee19b7ec3c10001',
    name: 'GET /api/chat',
    kind: 2,
    scope: { name: 'next.js' },
    resource: {},
    attributes: { 'http.route': '/api/chat', 'http.status_code': 200, ...attributes },
    events: [],
    status: { code: 0 },
    ...changes,
  }
}

describe('filters of spans', () => {
  it.each<[SpanFilter, boolean]>([
    [{ scope: 'next.js' }, true],
    [{ scope: 'next' }, false],
    [{ scope: 'next*' }, true],
    [{ name: 'GET /*' }, true],
    [{ name: '*chat' }, true],
    [{ name: 'G*/*/c*t' }, true],
    [{ name: 'GET*GET*' }, false],
    [{ name: '*' }, true],
    [{ name: 'GET /api/chat*chat' }, false],
    [{ attribute: 'http.route' }, true],
    [{ attribute: 'http' }, false],
    [{ attribute: 'toString' }, false],
    [{ attribute: 'http.route', value: '/api/*' }, true],
    [{ attribute: 'http.route', value: '/health' }, false],
    [{ attribute: 'http.status_code', value: '200' }, true],
    [{ scope: 'next.js', name: 'POST *' }, false],
    [{ scope: 'next.js', name: 'GET *', attribute: 'http.route' }, true],
  ])('%j selects a span of Next.js: %s', (filter, selects) => {
    expect(isFilteredOut(span(), [filter])).toBe(selects)
    expect(isFilteredOut(span(), [{ scope: 'another' }, filter])).toBe(selects)
  })

  it('leave out nothing without a filter, and a span without a scope only by other properties', () => {
    expect(isFilteredOut(span(), [])).toBe(false)
    expect(isFilteredOut(span({}, { scope: {} }), [{ scope: 'next.js' }])).toBe(false)
    expect(isFilteredOut(span({}, { scope: {} }), [{ name: 'GET *' }])).toBe(true)
  })

  it.each<[string, SpanRecord]>([
    ['a model by the conventions', span({ 'gen_ai.request.model': 'gpt-4o' })],
    ['a call of the Vercel AI SDK', span({ 'ai.operationId': 'ai.streamText' })],
    ['a span of OpenInference', span({ 'openinference.span.kind': 'CHAIN' })],
    ['a tool by another attribute', span({ 'mlflow.spanType': '"TOOL"' })],
    ['a call that only its name shows', span({}, { name: 'claude_code.llm_request' })],
    ['a call by a type of Braintrust', span({ 'braintrust.span_attributes': '{"type":"llm"}' })],
    ['messages in events', span({}, { events: [{ name: 'gen_ai.choice', time: '', attributes: {} }] })],
  ])('never leave out %s', (_, kept) => {
    expect(isFilteredOut(kept, [{ name: '*' }])).toBe(false)
  })

  it('take a time in proportion to the text for each star', () => {
    const name = 'a'.repeat(100_000)
    expectCpuBelow(1, () => {
      expect(isFilteredOut(span({}, { name }), [{ name: `${'*a'.repeat(99)}b` }])).toBe(false)
    })
  })
})
