import { textCell } from '../../base/text/csv-cell.ts'
import { parseTime } from '../derive/time.ts'
import { type ColumnType, type ParquetColumn, parquetRows, type ParquetValue } from '../parquet/parquet.ts'
import { parseDecimal } from '../price/decimal.ts'
import { atObject, objectMembers, startJson, takeValue } from './json-members.ts'

/** The forms of a file of TraceRuns: a line for each, or columns. */
export const FILE_FORMATS = ['jsonl', 'csv', 'parquet'] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

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
/** The columns of a table of TraceRuns: the fields, then those that are read from within other fields. */
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

/** The values of the columns as they are in the JSON of a TraceRun. */
function valuesOf(run: Buffer): (Buffer | undefined)[] {
  const fields = membersOf(run)
  const llm = membersOf(fields.get('llm'))
  const extra = membersOf(fields.get('extra'))
  return [
    ...FIELDS.map((name) => fields.get(name)),
    llm.get('model'),
    llm.get('provider'),
    // Lists have the beginnings of payloads only, unless the payloads are selected.
    fields.get('inputs') ?? fields.get('inputs_preview'),
    fields.get('outputs') ?? fields.get('outputs_preview'),
    extra.get('metadata'),
  ]
}

/** A value as text: texts without quotes, lists and objects as their JSON; null for null and what is empty. */
function textOf(json: Buffer | undefined): string | null {
  const text = json?.toString('utf8') ?? 'null'
  if (text === 'null' || text === '[]' || text === '{}') return null
  return text.startsWith('"') ? (JSON.parse(text) as string) : text
}

/** Text of a list of texts, as `prod, canary`. */
function tagsText(json: Buffer | undefined): string | null {
  const tags = JSON.parse(json?.toString('utf8') ?? 'null') as unknown
  return Array.isArray(tags) && tags.length > 0 ? tags.map(String).join(', ') : null
}

/** A line of CSV, in which null is an empty cell. */
function csvLine(run: Buffer): string {
  const cells = valuesOf(run).map((value, at) => (COLUMNS[at] === 'tags' ? tagsText(value) : textOf(value)))
  return `${cells.map((cell) => (cell === null ? '' : textCell(cell))).join(',')}\r\n`
}

const typeOf = (name: string): ColumnType => {
  if (name.endsWith('_time')) return 'time'
  if (name.endsWith('_cost')) return 'decimal'
  return name.endsWith('_tokens') || name === 'unpriced_runs' ? 'integer' : 'text'
}

/** The columns of a Parquet file: those of the CSV, with types. */
export const PARQUET_COLUMNS: readonly ParquetColumn[] = COLUMNS.map((name) => ({ name, type: typeOf(name) }))

/** A value of a column; tags stay JSON, because a tag may contain a comma. */
function parquetValue({ type }: ParquetColumn, json: Buffer | undefined): ParquetValue {
  const text = textOf(json)
  if (text === null || type === 'text') return text
  if (type === 'integer') return /^-?\d{1,18}$/.test(text) ? BigInt(text) : null
  if (type === 'decimal') return parseDecimal(text) ?? null
  const micros = parseTime(text)
  return micros === undefined ? null : BigInt(micros)
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

/** The JSON of TraceRuns as a part of a file. Numbers keep all of their digits. */
export function partOf(runs: readonly Uint8Array[], format: FileFormat): (string | Uint8Array)[] {
  if (format === 'jsonl') return runs.map(jsonLine)
  const buffers = runs.map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  )
  if (format === 'csv') return buffers.map(csvLine)
  const rows = buffers.map((run) =>
    valuesOf(run).map((value, at) => parquetValue(PARQUET_COLUMNS[at]!, value)),
  )
  return [parquetRows(PARQUET_COLUMNS, rows)]
}
