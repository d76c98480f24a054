import { describe, expect, it } from 'vitest'
import type { AppError } from '../../base/errors.ts'
import { createRegistry, type SchemaName } from '../../schema/registry.ts'
import { parseJsonBody, toLoc } from './json.ts'

function fault(text: string, schema: SchemaName = 'trace-run-query'): Pick<AppError, 'code' | 'details'> {
  try {
    parseJsonBody(Buffer.from(text), schema, createRegistry())
  } catch (error) {
    return error as AppError
  }
  throw new Error('passed')
}

describe('toLoc', () => {
  it('writes a JSON path as FastAPI does', () => {
    expect(toLoc('body', '')).toEqual(['body'])
    expect(toLoc('body', 'runs[0].name')).toEqual(['body', 'runs', 0, 'name'])
    expect(toLoc('query', 'a["b.c \\"d"][12]')).toEqual(['query', 'a', 'b.c "d', 12])
  })
})

describe('parseJsonBody', () => {
  it('distinguishes text that is not JSON from JSON that is not valid', () => {
    expect(fault('')).toMatchObject({ code: 'invalid_json' })
    expect(fault('NaN')).toMatchObject({ code: 'invalid_json' })
    expect(fault('[]')).toMatchObject({ code: 'invalid_request', details: [{ loc: ['body'] }] })
    expect(fault('{"session":["x"],"limit":0}').details).toMatchObject([
      { loc: ['body', 'session', 0] },
      { loc: ['body', 'limit'], type: 'out_of_range' },
    ])
  })

  it('accepts a byte order mark and keys that look like prototypes', () => {
    const body = parseJsonBody(
      Buffer.from('\ufeff{"__proto__":{"limit":5}}'),
      'trace-run-query',
      createRegistry(),
    )
    expect(body.limit).toBeUndefined()
  })

  it('RUN-38: an integer beyond 2^53 is no object, keeps its digits in open fields, and is a number elsewhere', () => {
    const refused = fault('{"graph_id":"g","context":-9007199254740993}', 'assistant-create')
    expect(refused.details).toMatchObject([{ loc: ['body', 'context'] }])
    const text = '{"graph_id":"g","context":{"id":9007199254740993}}'
    const taken = parseJsonBody(Buffer.from(text), 'assistant-create', createRegistry())
    expect(JSON.stringify(taken.context)).toBe('{"id":9007199254740993}')
    expect(fault('{"limit":9007199254740993}').details).toMatchObject([{ type: 'out_of_range' }])
  })
})
