import { describe, expect, it } from 'vitest'
import { decodeParts } from '../../../test/support/traces/decode-request.ts'

const A = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'
const B = '5886f37f-82a1-4058-9185-c8bc773996bd'
const ORDER_A = `20261120T091531685001Z${A}`

describe('INGEST-13: decodeRequest checks a record', () => {
  const other = `20261120T091532000000Z${B}`
  it.each([
    [
      { trace_id: 'x' },
      'invalid_trace_id',
      'trace_id',
      'schema validation failed: trace_id: Must validate one',
    ],
    [
      { parent_run_id: 5 },
      'invalid_parent_run_id',
      'parent_run_id',
      'Must validate one and only one schema (oneOf)',
    ],
    [{ session_id: 'p' }, 'invalid_field', 'session_id', 'session_id: Must validate'],
    [{ id: B }, 'invalid_run_id', 'id', 'Unprocessable entity'],
    [{ start_time: 'soon' }, 'invalid_timestamp', 'start_time', 'start_time must be an ISO 8601 timestamp'],
    [{ end_time: 1e300 }, 'invalid_timestamp', 'end_time', 'end_time must be an ISO 8601 timestamp'],
    [{ start_time: {} }, 'invalid_timestamp', 'start_time', 'start_time must be an ISO 8601 timestamp'],
    [{ dotted_order: 5 }, 'invalid_dotted_order', 'dotted_order', 'dotted_order must be a string'],
    [{ dotted_order: 'x' }, 'invalid_dotted_order', 'dotted_order', 'invalid format'],
    [
      { dotted_order: ORDER_A, parent_run_id: B, trace_id: B },
      'invalid_dotted_order',
      'dotted_order',
      `Bad request: invalid 'dotted_order': dotted_order must contain at least two parts for child runs for run_id:${A} trace_id:${B} dotted_order:${ORDER_A} parent_run_id:${B}`,
    ],
    [
      { dotted_order: `${other}.${ORDER_A}` },
      'invalid_dotted_order',
      'dotted_order',
      'dotted_order must contain a single part for root runs',
    ],
    [
      { dotted_order: ORDER_A, trace_id: B },
      'invalid_dotted_order',
      'dotted_order',
      'trace_id does not match first part of dotted_order',
    ],
    [{ dotted_order: other }, 'invalid_dotted_order', 'dotted_order', 'run_id does not match last part'],
    [
      { dotted_order: `${other}.${ORDER_A}`, parent_run_id: A, trace_id: B },
      'invalid_dotted_order',
      'dotted_order',
      'parent_run_id does not match second to last part',
    ],
  ])('%j is %s', (fields, code, field, error) => {
    const decoded = decodeParts([{ name: `post.${A}`, data: JSON.stringify(fields) }])
    expect(decoded).toMatchObject({ count: 0, rejected: [{ run_id: A, code, field }] })
    expect(decoded.rejected[0]!.error).toContain(error)
    expect(decoded.rejected[0]!.status).toBe(code === 'invalid_dotted_order' ? 400 : 422)
  })

  it.each([
    {},
    { id: null, trace_id: '', parent_run_id: null, dotted_order: null, session_id: null, start_time: null },
    { name: '', run_type: 7, tags: 'x', reference_example_id: 'x', session_name: 9 },
    { start_time: '1970-01-01T00:00:00Z', end_time: '2100-01-01T00:00:00' },
    { dotted_order: `${other}.${ORDER_A}`, parent_run_id: B, trace_id: B },
    { dotted_order: ORDER_A.replaceAll('-', '').toLowerCase(), trace_id: A.replaceAll('-', '') },
  ])('%j is kept', (fields) => {
    expect(decodeParts([{ name: `post.${A}`, data: JSON.stringify(fields) }])).toMatchObject({
      count: 1,
      rejected: [],
    })
  })

  it('lets an update omit its parent', () => {
    const data = JSON.stringify({ dotted_order: `${other}.${ORDER_A}` })
    expect(decodeParts([{ name: `patch.${A}`, data }])).toMatchObject({ count: 1, rejected: [] })
  })
})
