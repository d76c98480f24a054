import { expect, it } from 'vitest'
import type { JsonObject } from '../../../schema/json.ts'
import { mapSpan } from './span.ts'

function issuesOf(scope: string, attributes: JsonObject): string[] {
  const span = {
    trace_id: '5b8efff798038103d269b633813fc60c',
    span_id: 'eee19b7ec3c10001',
    name: 'GET /',
    kind: 2,
    scope: { name: scope },
    resource: {},
    attributes,
    events: [],
    status: { code: 0 },
    logs: [],
  }
  return mapSpan(span, { start: 1, end: 2 }).issues.map(({ code, fix }) => `${code}: ${fix}`)
}

it.each(['next.js', '@opentelemetry/instrumentation-http', 'opentelemetry.instrumentation.fastapi'])(
  'a span of %s suggests a filter, unless it is about a model',
  (scope) => {
    expect(issuesOf(scope, { 'http.route': '/' })).toEqual([
      expect.stringMatching(/^span_of_web_framework: .*weir projects filter PROJECT --scope /),
    ])
    expect(issuesOf(scope, { 'gen_ai.operation.name': 'invoke_agent' })).toEqual([])
  },
)

it('a span of an application suggests no filter', () => {
  expect(issuesOf('my-app', { 'http.route': '/' })).toEqual([])
  expect(issuesOf('next.js; rm -rf', {})).toEqual([])
})
