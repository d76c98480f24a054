import { textCell } from '../../base/text/csv-cell.ts'
import { atObject, objectMembers, startJson, takeValue } from './json-members.ts'

/** The forms of a file with one TraceRun a line. */
export const LINE_FORMATS = ['jsonl', 'csv'] as const
export type LineFormat = (typeof LINE_FORMATS)[number]

const [NEWLINE, RETURN, SPACE] = [0x0a, 0x0d, 0x20]

/** Fields of a TraceRun's JSON that are columns of their own, as the CSV names them. */
const FIELDS = [
  'id',
  'trace_id',
  'parent_run_id',
  'session_id',
  'name',
  'run_type',
  'status',
  'start_time',
  'end_time',
  'first_token_time',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_cost',
  'completion_cost',
  'total_cost',
  'unpriced_runs',
  'error',
  'thread_id',
  'tags',
  'feedback_stats',
] as const
/** Columns that are read from within other fields. */
const COLUMNS = [...FIELDS, 'model', 'provider', 'inputs', 'outputs', 'metadata']

/** The first line of a CSV file. */
export const CSV_HEAD = `${COLUMNS.join(',')}\r\n`

/** The members of an object as they are in its JSON; none for other values. */
function membersOf(json: Buffer | undefined): Map<string, Buffer> {
  const members = new Map<string, Buffer>()
  if (json === undefined) return members
  const cursor = startJson(json)
  if (!atObject(cursor)) return members
  for (const { key } of objectMembers(cursor)) members.set(key, takeValue(cursor))
  return members
}

/** A value in a cell: texts without quotes, null as an empty cell, lists and objects as their JSON. */
function cellOf(json: Buffer | undefined): string {
  const text = json?.toString('utf8') ?? 'null'
  if (text === 'null' || text === '[]' || text === '{}') return ''
  return textCell(text.startsWith('"') ? (JSON.parse(text) as string) : text)
}

/** Text of a list of texts, as `prod, canary`. */
function tagsCell(json: Buffer | undefined): string {
  const tags = JSON.parse(json?.toString('utf8') ?? 'null') as unknown
  return Array.isArray(tags) ? textCell(tags.map(String).join(', ')) : ''
}

function csvLine(run: Buffer): string {
  const fields = membersOf(run)
  const llm = membersOf(fields.get('llm'))
  const extra = membersOf(fields.get('extra'))
  const cells = [
    ...FIELDS.map((name) => (name === 'tags' ? tagsCell(fields.get(name)) : cellOf(fields.get(name)))),
    cellOf(llm.get('model')),
    cellOf(llm.get('provider')),
    // Lists have the beginnings of payloads only, unless the payloads are selected.
    cellOf(fields.get('inputs') ?? fields.get('inputs_preview')),
    cellOf(fields.get('outputs') ?? fields.get('outputs_preview')),
    cellOf(extra.get('metadata')),
  ]
  return `${cells.join(',')}\r\n`
}

/** JSON on one line: between the tokens of JSON, a line break means as much as a space. */
function jsonLine(run: Uint8Array): Uint8Array {
  const line = new Uint8Array(run.length + 1)
  for (let at = 0; at < run.length; at += 1) {
    const byte = run[at]!
    line[at] = byte === NEWLINE || byte === RETURN ? SPACE : byte
  }
  line[run.length] = NEWLINE
  return line
}

/** The JSON of a TraceRun as a line of a file. Numbers keep all of their digits. */
export function lineOf(run: Uint8Array, format: LineFormat): string | Uint8Array {
  if (format === 'jsonl') return jsonLine(run)
  return csvLine(Buffer.from(run.buffer, run.byteOffset, run.byteLength))
}
