import { once } from 'node:events'
import { resolve } from 'node:path'
import { builtInProcessors } from '../../../processors/index.ts'
import { AppError } from '../../base/errors.ts'
import type { ReadBody } from '../../trace/decode/decoded.ts'
import { createCounts, reportRejected, reportRuns } from '../../trace/derive/report.ts'
import type { LlmContext } from '../../trace/derive/llm.ts'
import { createEstimates } from '../../trace/tokens/estimator.ts'
import { loadOwnProcessors } from '../../trace/messages/own-processors.ts'
import type { PriceSource } from '../../trace/price/price.ts'
import { createTokenizer } from '../../trace/tokens/tokenizer.ts'
import { assertWord, misused, readArguments } from '../arguments/command-arguments.ts'
import { FORMAT_FLAGS, formatOf } from '../arguments/output-format.ts'
import { API_FLAGS, API_HELP } from '../arguments/api-flags.ts'
import { createFragmentFile } from '../validation/fragment-file.ts'
import { createGithubReport } from '../validation/github-report.ts'
import { createHumanReport } from '../validation/human-report.ts'
import { createJsonReport } from '../validation/json-report.ts'
import { createJunitReport } from '../validation/junit-report.ts'
import { readInput } from '../validation/read-input.ts'
import type { ReportedRun } from '../../trace/derive/report.ts'
import type { ReportWriter } from '../validation/report-writer.ts'

const HELP = `Usage: weir validate [options] FILE...     (- for standard input)
       weir validate [options] --project NAME [--since TIME]

Checks logged runs with the code that ingest uses, and stores nothing. A FILE holds one run, a
list of runs, a batch ({"post": [...], "patch": [...]}), an answer of POST /runs/query (API v1 or v2), an OTLP export
of traces or logs (protobuf or JSON), NDJSON with one of these a line, or a captured multipart body; gzip and zstd are
recognized. Several files are taken as one stream: an update in one completes the run that another creates, log
records join their spans. Uncompressed NDJSON may have any length.

With --project it prints the verdicts of the server on the runs of a project, for example those of a test run that has
just ended. It waits until the server has stored everything that it has accepted. Runs that the server refused are
in no project: watch the answers to your client for them.

Options:
  --project NAME   check what the server has, instead of files
  --since TIME     with --project: runs that started after it: 10m, 12h, 7d, or ISO 8601 (default: 1h)
  --format WORD    human, json (the report of POST /runs/validate), github (annotations of a workflow) or junit (XML)
                   (default: human)
  --color WORD     auto, always or never; auto: on a terminal, unless NO_COLOR is set (default: auto)
  --processors MODULE         your own message formats; may be repeated
  -q, --quiet      print the summary only
${API_HELP}
  -h, --help       print this

Exit code: 0 all valid, 1 something is invalid or would be rejected, 2 something could not be read or written, or there are no runs.`

const FLAGS = {
  ...API_FLAGS,
  ...FORMAT_FLAGS,
  project: { type: 'string' },
  since: { type: 'string' },
  color: { type: 'string', default: 'auto' },
  processors: { type: 'string', multiple: true, default: [] as string[] },
  quiet: { type: 'boolean', short: 'q' },
} as const

const FORMATS = ['human', 'json', 'github', 'junit'] as const
const COLORS = ['auto', 'always', 'never']
const DEFAULT_SINCE = '1h'

type Options = ReturnType<typeof readArguments<typeof FLAGS>>['values']

/** Reads the runs of a project from a server. Given by the caller, because it loads more than files need. */
export type ReadProjectRuns = (
  options: Options & { project: string; since: string },
) => AsyncIterable<ReportedRun>

/** `weir validate`: prints the validation report for captured runs, or for those of a project. */
export async function validate(args: string[], readProjectRuns: ReadProjectRuns): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const format = formatOf(values, FORMATS)
  assertWord('--color', values.color, COLORS)
  const { project, since } = values
  if (project !== undefined && positionals.length > 0)
    throw misused('Name files or a project, not both.', HELP)
  if (project === undefined && since !== undefined) throw misused('--since is for --project NAME.', HELP)
  if (project === undefined && positionals.length === 0)
    throw misused('Name a file, or - for standard input, or a project with --project.', HELP)
  process.stdout.off('error', endUnlessClosed).on('error', endUnlessClosed)
  const report = startReport(writerOf(format, values))
  return project === undefined
    ? validateFiles(positionals, values.processors, report)
    : validateProject(readProjectRuns, { ...values, project, since: since ?? DEFAULT_SINCE }, report)
}

function writerOf(format: (typeof FORMATS)[number], options: Options): ReportWriter {
  const print = (text: string): void => console.log(text)
  if (format === 'json') return createJsonReport(print)
  if (format === 'github') return createGithubReport(print)
  if (format === 'junit') return createJunitReport(print)
  const colors = options.color === 'auto' ? stdoutHasColors() : options.color === 'always'
  return createHumanReport(print, { colors, quiet: options.quiet === true })
}

/** A report that is printed while its runs are counted. */
interface StartedReport {
  run(run: ReportedRun): void
  reject(items: ReadBody['rejected']): void
  isEmpty(): boolean
  /** Prints the end and returns the exit code. */
  end(): number
}

function startReport(writer: ReportWriter): StartedReport {
  const counts = createCounts()
  return {
    run(run) {
      counts.addRun(run)
      writer.run(run)
    },
    reject(items) {
      for (const item of items) {
        counts.addRejected()
        for (const fault of reportRejected(item)) writer.rejected(fault)
      }
    },
    isEmpty: () => counts.summary().runs + counts.summary().rejected === 0,
    end() {
      writer.end(counts.isValid(), counts.summary())
      return counts.isValid() ? 0 : 1
    },
  }
}

async function validateFiles(
  paths: readonly string[],
  processors: readonly string[],
  report: StartedReport,
): Promise<number> {
  const context = await contextOf(processors)
  const fragments = createFragmentFile()
  try {
    let isUnreadable = false
    for (const path of paths) {
      const fault = await addFile(path, (body) => {
        fragments.add(body.rows)
        for (const run of body.judged) report.run(run)
        report.reject(body.rejected)
      })
      if (fault === undefined) continue
      isUnreadable = true
      console.error(`weir validate: ${path === '-' ? 'standard input' : path}: ${fault}`)
    }
    for (const run of reportRuns(fragments, context)) {
      report.run(run)
      await whenPrinted()
    }
    if (report.isEmpty()) return 2
    const code = report.end()
    return isUnreadable ? 2 : code
  } finally {
    fragments.close()
  }
}

/** Reads a file; returns the reason why it could not be read, or why it has nothing to check. */
async function addFile(path: string, take: (body: ReadBody) => void): Promise<string | undefined> {
  let isEmpty = true
  try {
    await readInput(path, (body) => {
      if (body.rows.length + body.rejected.length + body.judged.length > 0) isEmpty = false
      take(body)
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.message
  }
  return isEmpty ? 'There are no runs in it.' : undefined
}

async function contextOf(modules: readonly string[]): Promise<LlmContext> {
  const own = modules.flatMap((list) => list.split(',')).map((path) => resolve(path.trim()))
  return {
    processors: [...(await loadOwnProcessors(own)), ...builtInProcessors],
    startEstimate: createEstimates(createTokenizer()),
    prices: await defaultPrices(),
  }
}

/** The default prices of Weir; a workspace's own prices are stored in its server. */
async function defaultPrices(): Promise<() => PriceSource> {
  const { createDefaultPrices } = await import('../../trace/price/default/default-prices.ts')
  const prices = createDefaultPrices()
  return () => prices
}

async function validateProject(
  readProjectRuns: ReadProjectRuns,
  options: Options & { project: string; since: string },
  report: StartedReport,
): Promise<number> {
  for await (const run of readProjectRuns(options)) {
    report.run(run)
    await whenPrinted()
  }
  if (!report.isEmpty()) return report.end()
  throw new AppError('not_found', {
    message: `Project "${options.project}" has no runs that started in the time that --since ${options.since} says. Does the client flush its traces before it ends?`,
  })
}

/** A reader that has ended, such as `head`, does not change the exit code; a full disk does. */
function endUnlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return
  console.error(`weir validate: the report cannot be written: ${error.message}`)
  process.exit(2)
}

/** Resolves when the reader of a pipe has taken most of the output, which would wait in memory otherwise. */
async function whenPrinted(): Promise<void> {
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain').catch(() => undefined)
}

/** False if standard output is not a terminal, or if NO_COLOR or TERM disable colours. */
function stdoutHasColors(): boolean {
  return process.stdout.isTTY && process.stdout.hasColors()
}
