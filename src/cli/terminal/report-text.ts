import { styleText } from 'node:util'
import type { ValidationReport } from '../../schema/types.gen.ts'

type ReportedRun = ValidationReport['runs'][number]
type Issue = ReportedRun['issues'][number]
type Style = Parameters<typeof styleText>[0]
type Paint = (style: Style, text: string) => string
type CheckName = keyof ReportedRun['checks']

const CHECK_NAMES: readonly CheckName[] = ['run_type', 'format', 'model', 'usage']
/** Instructions for meeting each requirement. */
const MENDS: Readonly<Record<CheckName, string>> = {
  run_type: 'Send run_type "llm" for every call of a model.',
  format:
    'Send messages in a format that Weir supports (docs/protocol/llm-run.md), or add a processor of your own.',
  model:
    'Put ls_provider and ls_model_name into extra.metadata; on a span gen_ai.provider.name and gen_ai.request.model.',
  usage:
    'Put usage_metadata with input_tokens and output_tokens into outputs or into extra.metadata; on a span gen_ai.usage.input_tokens and gen_ai.usage.output_tokens. OpenAI counts a streamed call only with stream_options: {include_usage: true}.',
}
const SEVERITY_STYLES: Record<Issue['severity'], Style> = { error: 'red', warning: 'yellow', info: 'cyan' }
/**
 * Control characters and characters that change the direction of text, with which a name could control the terminal.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

export interface ReportTextOptions {
  colors: boolean
  /** Whether only the summary is printed. */
  quiet: boolean
}

/** The report for people: every run with its verdicts and issues, all refused items, and a summary at the end. */
export function reportText(report: ValidationReport, { colors, quiet }: ReportTextOptions): string {
  const paint: Paint = (style, text) =>
    colors && text !== '' ? styleText(style, text, { validateStream: false }) : text
  const blocks: string[] = []
  if (!quiet) {
    for (const run of report.runs) blocks.push(runText(run, paint))
    for (const item of report.rejected) blocks.push(rejectedText(item, paint))
    if (blocks.length > 0) blocks.push('')
  }
  blocks.push(summaryText(report, paint))
  return blocks.join('\n')
}

function runText(run: ReportedRun, paint: Paint): string {
  const model = [run.provider, run.model].filter((part) => part !== null).join('/')
  const title = [
    tick(run.valid, paint),
    paint('bold', printable(run.name)),
    printable(run.run_type),
    printable(model),
    paint('dim', run.run_id),
  ]
  const lines = [title.filter((part) => part !== '').join('  ')]
  if (run.run_type === 'llm') lines.push(...CHECK_NAMES.flatMap((name) => checkText(name, run, paint)))
  else if (run.run_type !== 'embedding' && run.checks.model.ok) lines.push(`    ${disguised(run)}`)
  for (const issue of run.issues) lines.push(...issueText(issue, paint))
  return lines.join('\n')
}

function checkText(name: CheckName, run: ReportedRun, paint: Paint): string[] {
  const { ok, reason } = run.checks[name]
  const explanation = ok ? paint('dim', printable(evidence(name, run))) : printable(reason ?? '')
  const line = `    ${tick(ok, paint)} ${name.padEnd(9)}${explanation}`.trimEnd()
  return ok ? [line] : [line, `      ${fixText(MENDS[name], paint)}`]
}

function fixText(fix: string, paint: Paint): string {
  return `${paint('dim', 'Fix:')} ${printable(fix)}`
}

/** The evidence for a fulfilled requirement. */
function evidence(name: CheckName, run: ReportedRun): string {
  if (name === 'model') return run.model_source ?? ''
  if (name === 'format') return [...new Set([run.input_format, run.output_format])].filter(Boolean).join(', ')
  if (name === 'usage') return `${run.input_tokens ?? '?'} in, ${run.output_tokens ?? '?'} out`
  return ''
}

/**
 * The hint for a run of another type that has a provider and a model. Only llm calls have these (D-13 applies to llm
 * runs).
 */
function disguised({ run_type }: ReportedRun): string {
  return `It names a provider and a model: if it is an LLM call, send run_type "llm" instead of "${printable(run_type)}".`
}

function issueText({ severity, code, path, message, fix }: Issue, paint: Paint): string[] {
  const where = path === '' ? '' : ` at ${printable(path)}`
  const lines = [
    `    ${paint(SEVERITY_STYLES[severity], severity)} ${code}${where}`,
    `      ${printable(message)}`,
  ]
  if (fix !== undefined) lines.push(`      ${fixText(fix, paint)}`)
  return lines
}

function rejectedText(item: ValidationReport['rejected'][number], paint: Paint): string {
  const where = item.field === null ? '' : ` at ${printable(item.field)}`
  const who = item.run_id === null ? '' : `  ${paint('dim', printable(item.run_id))}`
  const title = `${tick(false, paint)} ${paint('bold', 'rejected')}  ${item.code}${where}${who}`
  return `${title}\n      ${printable(item.reason)}`
}

function summaryText({ valid, summary }: ValidationReport, paint: Paint): string {
  const { runs, llm_runs, invalid, rejected, issues } = summary
  const failed = CHECK_NAMES.filter((name) => summary.failed_checks[name] > 0)
  const bad = (amount: number, what: string): string =>
    amount > 0 ? paint('red', `${amount} ${what}`) : `0 ${what}`
  const parts = [
    `${count(runs, 'run')} (${llm_runs} llm)`,
    `${summary.valid} valid`,
    bad(invalid, 'invalid'),
    bad(rejected, 'rejected'),
  ]
  const lines = [`${tick(valid, paint)} ${parts.join(', ')}`]
  if (failed.length > 0) {
    lines.push(`  failed: ${failed.map((name) => `${name} ${summary.failed_checks[name]}`).join(', ')}`)
  }
  if (issues.error + issues.warning + issues.info > 0) {
    const { error, warning, info } = issues
    lines.push(`  issues: ${count(error, 'error')}, ${count(warning, 'warning')}, ${info} info`)
  }
  return lines.join('\n')
}

function count(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? '' : 's'}`
}

function tick(ok: boolean, paint: Paint): string {
  return ok ? paint('green', '✓') : paint('red', '✗')
}

/** Escapes control and direction characters, so that names from clients cannot control the terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

const COLOUR = new RegExp(String.raw`\u001b\[[\d;]*m`, 'g')

/** The text without the colours that programs print. */
export function uncoloured(text: string): string {
  return text.replace(COLOUR, '')
}
