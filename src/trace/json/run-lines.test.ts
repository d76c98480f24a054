import { expect, it } from 'vitest'
import { CSV_HEAD, partOf } from './run-lines.ts'

const RUN = `{"id":"a","name":"=SUM(1)","run_type":"llm","total_tokens":12345678901234567890,"error":null,
  "tags":["prod","b, c"],"total_cost":"0.10","llm":{"provider":"openai","model":"gpt-4.1"},
  "extra":{"metadata":{"order":12345678901234567890}},"inputs":{"q": "a
","b":1.50}}`.replace('a\n', 'a\\n')

const lineOf = (run: Buffer, format: 'csv' | 'jsonl') => partOf([run], format)[0] ?? ''
const text = (line: string | Uint8Array): string =>
  typeof line === 'string' ? line : Buffer.from(line).toString('utf8')

/** Cells of a line of CSV by the names of their columns. */
function cellsOf(line: string): Record<string, string> {
  const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"\r\n]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  )
  return Object.fromEntries(
    CSV_HEAD.trim()
      .split(',')
      .map((name, at) => [name, cells[at] ?? '']),
  )
}

it('JSON is on one line, with every number as it was sent', () => {
  const line = text(lineOf(Buffer.from(RUN), 'jsonl'))
  expect(line.indexOf('\n')).toBe(line.length - 1)
  expect(line).toContain('"total_tokens":12345678901234567890')
  expect(JSON.parse(line)).toMatchObject({ id: 'a', inputs: { q: 'a\n', b: 1.5 } })
})

it('CSV has a cell for each column, no formulas, and exact numbers', () => {
  const cells = cellsOf(text(lineOf(Buffer.from(RUN), 'csv')))
  expect(cells).toMatchObject({
    id: 'a',
    name: '\t=SUM(1)',
    total_tokens: '12345678901234567890',
    total_cost: '0.10',
    error: '',
    tags: 'prod, b, c',
    model: 'gpt-4.1',
    provider: 'openai',
    metadata: '{"order":12345678901234567890}',
    inputs: '{"q": "a\\n","b":1.50}',
    outputs: '',
  })
})

it('CSV has the previews of a list where payloads are not selected', () => {
  const line = text(
    lineOf(Buffer.from('{"id":"a","inputs_preview":"Where is it?","outputs_preview":""}'), 'csv'),
  )
  expect(cellsOf(line)).toMatchObject({ inputs: 'Where is it?', outputs: '', model: '', metadata: '' })
})
