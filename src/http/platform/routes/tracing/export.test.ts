import { afterEach, expect, it } from 'vitest'
import { type AppFixture, startApp, WORKSPACE } from '../../../../../test/support/servers/app-fixture.ts'
import { PARQUET_COLUMNS } from '../../../../trace/json/run-lines.ts'
import { parquetRows } from '../../../../trace/parquet/parquet.ts'
import { AppError } from '../../../../base/errors.ts'
import type { TraceReads, TraceRunQuery } from '../../../../query/trace-reads.ts'

const PROJECT = '00000000-0000-4000-8000-00000000000a'
let fixture: AppFixture
afterEach(() => fixture.stop())

/** An app whose list has pages of one line each: `0`, `1`, …, without an end. */
async function startEndless(fail?: (page: number) => void) {
  const asked: [string, TraceRunQuery, string][] = []
  const filePart: TraceReads['filePart'] = async (workspace_id, query, format) => {
    fail?.(asked.length)
    asked.push([workspace_id, query, format])
    return { bytes: Buffer.from(`${asked.length - 1}\n`), next: `after ${asked.length - 1}` }
  }
  fixture = await startApp({ reads: { filePart } })
  return asked
}

const ask = (search: string) => fixture.request(`/api/v1/runs/export?session=${PROJECT}${search}`)

it('streams page after page, until the limit is reached', async () => {
  const asked = await startEndless()
  const answer = await ask(
    '&limit=1100&filter=eq(status,"error")&is_root=true&start_time=2026-01-01T00:00:00Z',
  )
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
  expect(answer.headers.get('content-disposition')).toMatch(/attachment; filename="runs_[\d-]+\.jsonl"/)
  expect(await answer.text()).toBe('0\n1\n2\n')
  const list = { session: [PROJECT], filter: 'eq(status,"error")', is_root: true, order: 'desc' }
  const start_time = Date.parse('2026-01-01T00:00:00Z') * 1000
  expect(asked).toEqual([
    [WORKSPACE, { ...list, start_time, limit: 500 }, 'jsonl'],
    [WORKSPACE, { ...list, start_time, limit: 500, cursor: 'after 0' }, 'jsonl'],
    [WORKSPACE, { ...list, start_time, limit: 100, cursor: 'after 1' }, 'jsonl'],
  ])
})

it('CSV begins with the names of its columns; payloads are read when they are asked for', async () => {
  const asked = await startEndless()
  const text = await (await ask('&limit=1&format=csv&payloads=true')).text()
  expect(text).toMatch(/^id,trace_id,[^\r]+\r\n0\n$/)
  expect(asked[0]?.[1]).toMatchObject({ limit: 1, select: expect.arrayContaining(['inputs', 'outputs']) })
})

it('Parquet is framed by its marks, and each page is a group', async () => {
  const group = parquetRows(PARQUET_COLUMNS, [PARQUET_COLUMNS.map(() => null)])
  const filePart: TraceReads['filePart'] = async () => ({ bytes: group, next: 'after' })
  fixture = await startApp({ reads: { filePart } })
  const answer = await ask('&limit=1100&format=parquet')
  expect(answer.headers.get('content-type')).toBe('application/vnd.apache.parquet')
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect([bytes.subarray(0, 4), bytes.subarray(-4)].map(String)).toEqual(['PAR1', 'PAR1'])
  const pages = 3 * (group.length - 8 * PARQUET_COLUMNS.length - 4)
  expect(bytes.length).toBe(12 + pages + bytes.readUInt32LE(bytes.length - 8))
})

it('a list that cannot be read is refused; a later failure breaks the file off', async () => {
  let isReadable = true
  await startEndless((page) => {
    if (!isReadable) throw new AppError('invalid_request')
    if (page === 1) throw new AppError('store_unavailable')
  })
  await expect(ask('&limit=5000').then((answer) => answer.text())).rejects.toThrow()
  isReadable = false
  expect((await ask('')).status).toBe(422)
  for (const search of ['&format=xml', '&limit=0', '&limit=100001', '&is_root=maybe'])
    expect((await ask(search)).status).toBe(422)
  expect((await fixture.request('/api/v1/runs/export')).status).toBe(422)
})
