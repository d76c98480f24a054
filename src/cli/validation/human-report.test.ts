import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { ValidationReport } from '../../schema/types.gen.ts'
import { createHumanReport, type HumanReportOptions } from './human-report.ts'

type Run = ValidationReport['runs'][number]

const RUN_ID = '01a1f83d-5201-7000-8000-01302b462688'

function llmRun(changes: Partial<Run> = {}): Run {
  return {
    run_id: RUN_ID,
    name: 'ChatOpenAI',
    run_type: 'llm',
    valid: true,
    checks: { run_type: { ok: true }, format: { ok: true }, model: { ok: true }, usage: { ok: true } },
    provider: 'openai',
    model: 'gpt-4.1-mini',
    model_source: 'metadata.ls_model_name',
    input_format: 'openai-chat',
    output_format: 'openai-chat',
    input_tokens: 25,
    output_tokens: 9,
    usage_source: { input: 'client', output: 'client' },
    issues: [],
    ...changes,
  }
}

function report(runs: Run[], changes: Partial<ValidationReport> = {}): ValidationReport {
  const invalid = runs.filter((run) => !run.valid).length
  return {
    valid: invalid === 0,
    summary: {
      runs: runs.length,
      llm_runs: runs.length,
      valid: runs.length - invalid,
      invalid,
      rejected: 0,
      failed_checks: { run_type: 0, format: 0, model: 0, usage: invalid },
      issues: { error: 0, warning: 0, info: 0 },
    },
    runs,
    rejected: [],
    ...changes,
  }
}

function reportText(whole: ValidationReport, options: HumanReportOptions): string {
  const lines: string[] = []
  const writer = createHumanReport((text) => void lines.push(text), options)
  for (const run of whole.runs) writer.run(run)
  for (const item of whole.rejected) writer.rejected(item)
  writer.end(whole.valid, whole.summary)
  return lines.join('\n')
}

const PLAIN = { colors: false, quiet: false }
const FAILING = llmRun({
  valid: false,
  checks: {
    run_type: { ok: true },
    format: { ok: true },
    model: { ok: true },
    usage: { ok: false, reason: 'no usage_metadata; estimated with o200k_base' },
  },
})

describe('createHumanReport', () => {
  it('shows an llm run with its verdicts and their sources', () => {
    expect(reportText(report([llmRun()]), PLAIN)).toBe(`✓  ChatOpenAI  llm  openai/gpt-4.1-mini  ${RUN_ID}
    ✓ run_type
    ✓ format   openai-chat
    ✓ model    metadata.ls_model_name
    ✓ usage    25 in, 9 out

✓ 1 run (1 llm), 1 valid, 0 invalid, 0 rejected`)
  })

  it('says why a verdict fails and how to meet it', () => {
    const text = reportText(report([FAILING]), PLAIN)
    expect(text).toContain(
      '    ✗ usage    no usage_metadata; estimated with o200k_base\n      Fix: Put usage_metadata',
    )
    expect(text).toContain('✗ 1 run (1 llm), 0 valid, 1 invalid, 0 rejected\n  failed: usage 1')
  })

  it('shows every issue with its path, its message and the fix', () => {
    const issues: Run['issues'] = [
      {
        code: 'unknown_role',
        severity: 'warning',
        path: 'inputs.messages[0].role',
        message: 'Odd.',
        fix: 'Mend.',
      },
      { code: 'reasoning_added', severity: 'info', path: '', message: 'Added.' },
    ]
    const text = reportText(report([llmRun({ issues })]), PLAIN)
    expect(text).toContain(
      '    warning unknown_role at inputs.messages[0].role\n      Odd.\n      Fix: Mend.\n',
    )
    expect(text).toContain('    info reasoning_added\n      Added.\n\n')
  })

  it('shows what was rejected', () => {
    const rejected: ValidationReport['rejected'] = [
      { run_id: 'x', code: 'invalid_run_id', field: 'id', reason: 'id is not a UUID.' },
      { run_id: null, code: 'invalid_json', field: null, reason: 'Line 2 is not JSON.' },
    ]
    expect(reportText(report([], { rejected }), PLAIN)).toContain(
      '✗ rejected  invalid_run_id at id  x\n      id is not a UUID.\n✗ rejected  invalid_json\n      Line 2 is not JSON.\n',
    )
  })

  it('warns of a run that looks like an llm call under another type, and of no other', () => {
    const hint = /send run_type "llm" instead of "chain"/
    expect(reportText(report([llmRun({ run_type: 'chain' })]), PLAIN)).toMatch(hint)
    const checks = { run_type: null, format: null, model: null, usage: null }
    expect(reportText(report([llmRun({ run_type: 'chain', checks })]), PLAIN)).not.toMatch(hint)
  })

  it('prints only the summary when quiet', () => {
    expect(reportText(report([FAILING]), { ...PLAIN, quiet: true })).toBe(
      '✗ 1 run (1 llm), 0 valid, 1 invalid, 0 rejected\n  failed: usage 1',
    )
  })

  it('has the same text in colour and without', () => {
    const both = report([FAILING, llmRun()])
    const colored = reportText(both, { colors: true, quiet: false })
    expect(colored).toContain('\u001b[31m')
    expect(stripVTControlCharacters(colored)).toBe(reportText(both, PLAIN))
  })

  it('escapes submitted text that would control the terminal', () => {
    const text = reportText(report([llmRun({ name: 'a\u001b[2J\r\nb\u202ec👩‍🚀', model: 'm\u009b' })]), PLAIN)
    expect(text.split('\n')[0]).toBe(
      `✓  a\\u001b[2J\\u000d\\u000ab\\u202ec👩‍🚀  llm  openai/m\\u009b  ${RUN_ID}`,
    )
  })
})
