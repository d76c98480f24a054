import { resolve } from 'node:path'
import { builtInProcessors } from '../../processors/index.ts'
import { AppError } from '../base/errors.ts'
import { NIL_UUID } from '../base/ids.ts'
import type { RequestHead } from '../trace/decoded.ts'
import { createEstimates } from '../trace/estimator.ts'
import { loadOwnProcessors } from '../trace/own-processors.ts'
import type { PriceSource } from '../trace/price/price.ts'
import { createReport } from '../trace/report.ts'
import { createTokenizer } from '../trace/tokenizer.ts'
import { type ReadBody, readBody } from '../trace/validate-body.ts'
import { assertWord, misused, readArguments } from './command-arguments.ts'
import { MAX_CAPTURE_BYTES, readCapture } from './read-capture.ts'
import { reportText } from './report-text.ts'

const HELP = `Usage: weir validate [options] FILE...     (- for standard input)

Says what Weir would make of logged runs, by the same code as ingest, and stores nothing. A FILE holds one run, a
list of runs, a batch ({"post": [...], "patch": [...]}), an OTLP export of traces or logs (protobuf or JSON), NDJSON
with one of these a line, or a captured multipart body; gzip and zstd are told by themselves. Several files are taken
as one stream: an update in one completes the run that another creates, log records join their spans.

Options:
  --format human|json         json prints the report of POST /runs/validate (default: human)
  --color auto|always|never   auto: on a terminal, unless NO_COLOR is set (default: auto)
  --processors MODULE         your own message formats; may be repeated
  -q, --quiet                 print the summary only
  -h, --help                  print this

Exit code: 0 all valid, 1 something is invalid or would be rejected, 2 something could not be read.`

const FLAGS = {
  format: { type: 'string', default: 'human' },
  color: { type: 'string', default: 'auto' },
  processors: { type: 'string', multiple: true, default: [] as string[] },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
} as const

const FORMATS = ['human', 'json']
const COLORS = ['auto', 'always', 'never']
/** As the server's (GET /info); of the parts of a request there may be any number here, a capture is no request. */
const MAX_FIELD_BYTES = 50 * 1024 * 1024

/** `weir validate`: prints the validation report for captured runs; what cannot be read is named on standard error. */
export async function validate(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  assertWord('--format', values.format, FORMATS)
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
    values.format === 'json'
      ? JSON.stringify(report, null, 2)
      : reportText(report, { colors, quiet: values.quiet === true })
  console.log(text)
  if (unreadable.length > 0) return 2
  return report.valid ? 0 : 1
}

/** The prices that come with Weir: those of a workspace are known to its server only. */
async function defaultPrices(): Promise<() => PriceSource> {
  const { createDefaultPrices } = await import('../trace/price/default-prices.ts')
  const prices = createDefaultPrices()
  return () => prices
}

/** Every file decoded, and one line for each in which nothing can be read. */
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

/** False on anything but a terminal, and where NO_COLOR or the terminal says no. */
function stdoutHasColors(): boolean {
  return process.stdout.isTTY && process.stdout.hasColors()
}
