import { resolve } from 'node:path'
import { builtInProcessors } from '../../../processors/index.ts'
import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { RequestHead } from '../../trace/decode/decoded.ts'
import { createEstimates } from '../../trace/tokens/estimator.ts'
import { loadOwnProcessors } from '../../trace/messages/own-processors.ts'
import type { PriceSource } from '../../trace/price/price.ts'
import { createReport } from '../../trace/derive/report.ts'
import { createTokenizer } from '../../trace/tokens/tokenizer.ts'
import { type ReadBody, readBody } from '../../trace/decode/validate-body.ts'
import { assertWord, misused, readArguments } from '../arguments/command-arguments.ts'
import { FORMAT_FLAGS, formatOf } from '../arguments/output-format.ts'
import { MAX_CAPTURE_BYTES, readCapture } from '../arguments/read-capture.ts'
import { reportText } from '../terminal/report-text.ts'

const HELP = `Usage: weir validate [options] FILE...     (- for standard input)

Checks logged runs with the code that ingest uses, and stores nothing. A FILE holds one run, a
list of runs, a batch ({"post": [...], "patch": [...]}), an OTLP export of traces or logs (protobuf or JSON), NDJSON
with one of these a line, or a captured multipart body; gzip and zstd are recognized. Several files are taken
as one stream: an update in one completes the run that another creates, log records join their spans.

Options:
  --format human|json         json prints the report of POST /runs/validate (default: human)
  --color auto|always|never   auto: on a terminal, unless NO_COLOR is set (default: auto)
  --processors MODULE         your own message formats; may be repeated
  -q, --quiet                 print the summary only
  -h, --help                  print this

Exit code: 0 all valid, 1 something is invalid or would be rejected, 2 something could not be read.`

const FLAGS = {
  ...FORMAT_FLAGS,
  color: { type: 'string', default: 'auto' },
  processors: { type: 'string', multiple: true, default: [] as string[] },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
} as const

const FORMATS = ['human', 'json'] as const
const COLORS = ['auto', 'always', 'never']
/**
 * Maximum bytes of a field, as in the server (GET /info). The number of parts is unlimited here, since a capture may
 * contain several requests.
 */
const MAX_FIELD_BYTES = 50 * 1024 * 1024

/** `weir validate`: prints the validation report for captured runs; unreadable input is reported on standard error. */
export async function validate(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  const format = formatOf(values, FORMATS)
  assertWord('--color', values.color, COLORS)
  if (positionals.length === 0) throw misused('Name a file, or - for standard input.', HELP)
  const own = values.processors.flatMap((list) => list.split(',')).map((path) => resolve(path.trim()))
  const context = {
    processors: [...(await loadOwnProcessors(own)), ...builtInProcessors],
    startEstimate: createEstimates(createTokenizer()),
    prices: await defaultPrices(),
  }
  const { bodies, unreadable } = await readAll(positionals)
  for (const line of unreadable) console.error(`weir validate: ${line}`)
  if (bodies.length === 0) return 2
  const rows = Buffer.concat(bodies.map((body) => body.rows))
  const rejected = bodies.flatMap((body) => body.rejected)
  const report = createReport(rows, rejected, context)
  const colors = values.color === 'auto' ? stdoutHasColors() : values.color === 'always'
  const text =
    format === 'json'
      ? JSON.stringify(report, null, 2)
      : reportText(report, { colors, quiet: values.quiet === true })
  console.log(text)
  if (unreadable.length > 0) return 2
  return report.valid ? 0 : 1
}

/** The default prices of Weir; a workspace's own prices are stored in its server. */
async function defaultPrices(): Promise<() => PriceSource> {
  const { createDefaultPrices } = await import('../../trace/price/default/default-prices.ts')
  const prices = createDefaultPrices()
  return () => prices
}

/** Decodes every file; returns one line for each unreadable file. */
async function readAll(paths: readonly string[]): Promise<{ bodies: ReadBody[]; unreadable: string[] }> {
  const bodies: ReadBody[] = []
  const unreadable: string[] = []
  for (const path of paths) {
    const name = path === '-' ? 'standard input' : path
    try {
      const body = await readFile(path)
      if (body.rows.length > 0 || body.rejected.length > 0) bodies.push(body)
      else unreadable.push(`${name}: There are no runs in it.`)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      unreadable.push(`${name}: ${error.message}`)
    }
  }
  return { bodies, unreadable }
}

async function readFile(path: string): Promise<ReadBody> {
  const { content_type, content_encoding, body } = await readCapture(path)
  if (body.length === 0) throw new AppError('invalid_request', { message: 'It is empty.' })
  const head: RequestHead = {
    kind: 'batch',
    content_type,
    content_encoding,
    workspace_id: NIL_UUID,
    user_id: NIL_UUID,
    api_key_id: NIL_UUID,
    received_at: Date.now(),
    limits: {
      max_body_bytes: MAX_CAPTURE_BYTES,
      max_parts: Number.MAX_SAFE_INTEGER,
      max_part_bytes: MAX_FIELD_BYTES,
    },
  }
  return readBody(head, body)
}

/** False if standard output is not a terminal, or if NO_COLOR or TERM disable colours. */
function stdoutHasColors(): boolean {
  return process.stdout.isTTY && process.stdout.hasColors()
}
