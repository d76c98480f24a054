import { styleText } from 'node:util'
import type { Checks } from '../../trace/derive/trace-run.ts'
import { CHECKS } from '../../trace/derive/verdicts.ts'
import { printable } from '../terminal/printable.ts'
import type { ReportedRun } from '../../trace/derive/report.ts'
import { FIXES, type RejectedItem, type ReportSummary, type ReportWriter } from './report-writer.ts'

type Issue = ReportedRun['issues'][number]
type Style = Parameters<typeof styleText>[0]
type Paint = (style: Style, text: string) => string

const SEVERITY_STYLES: Record<Issue['severity'], Style> = { error: 'red', warning: 'yellow', info: 'cyan' }
export interface HumanReportOptions {
  colors: boolean
  /** Whether only the summary is printed. */
  quiet: boolean
}

/** The report for people: every run with its verdicts and issues, all refused items, and a summary at the end. */
export function createHumanReport(
  print: (text: string) => void,
  { colors, quiet }: HumanReportOptions,
): ReportWriter {
  const paint: Paint = (style, text) =>
    colors && text !== '' ? styleText(style, text, { validateStream: false }) : text
  let isEmpty = true
  const printBlock = (text: string): void => {
    if (quiet) return
    print(text)
    isEmpty = false
  }
  return {
    run: (run) => printBlock(runText(run, paint)),
    rejected: (item) => printBlock(rejectedText(item, paint)),
    end(valid, summary) {
      if (!isEmpty) print('')
      print(summaryText(valid, summary, paint))
    },
  }
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
  if (run.run_type === 'llm') lines.push(...CHECKS.flatMap((name) => checkText(name, run, paint)))
  else if (run.checks.run_type !== null) lines.push(`    ${disguised(run)}`)
  for (const issue of run.issues) lines.push(...issueText(issue, paint))
  return lines.join('\n')
}

function checkText(name: keyof Checks, run: ReportedRun, paint: Paint): string[] {
  const { ok, reason } = run.checks[name] ?? { ok: true }
  const explanation = ok ? paint('dim', printable(evidence(name, run))) : printable(reason ?? '')
  const line = `    ${tick(ok, paint)} ${name.padEnd(9)}${explanation}`.trimEnd()
  return ok ? [line] : [line, `      ${fixText(FIXES[name], paint)}`]
}

function fixText(fix: string, paint: Paint): string {
  return `${paint('dim', 'Fix:')} ${printable(fix)}`
}

/** The evidence for a fulfilled requirement. */
function evidence(name: keyof Checks, run: ReportedRun): string {
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

function rejectedText(item: RejectedItem, paint: Paint): string {
  const where = item.field === null ? '' : ` at ${printable(item.field)}`
  const who = item.run_id === null ? '' : `  ${paint('dim', printable(item.run_id))}`
  const title = `${tick(false, paint)} ${paint('bold', 'rejected')}  ${item.code}${where}${who}`
  return `${title}\n      ${printable(item.reason)}`
}

function summaryText(valid: boolean, summary: ReportSummary, paint: Paint): string {
  const { runs, llm_runs, invalid, rejected, issues } = summary
  const failed = CHECKS.filter((name) => summary.failed_checks[name] > 0)
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
