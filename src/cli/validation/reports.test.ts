import { describe, expect, it } from 'vitest'
import { createGithubReport } from './github-report.ts'
import { createJsonReport } from './json-report.ts'
import { createJunitReport } from './junit-report.ts'
import type { ReportedRun } from '../../trace/derive/report.ts'
import type { RejectedItem, ReportSummary, ReportWriter } from './report-writer.ts'

const OK = { ok: true }
const SUMMARY: ReportSummary = {
  runs: 1,
  llm_runs: 1,
  valid: 0,
  invalid: 1,
  rejected: 0,
  failed_checks: { run_type: 0, format: 0, model: 0, usage: 1 },
  issues: { error: 0, warning: 0, info: 0 },
}
const REFUSED: RejectedItem = { run_id: 'x,1', code: 'invalid_run_id', field: 'id', reason: '100% wrong\nid' }

function call(n: number, changes: Partial<ReportedRun> = {}): ReportedRun {
  return {
    run_id: `01a1f83d-5201-7000-8000-00000000000${n}`,
    name: 'Chat',
    run_type: 'llm',
    valid: false,
    checks: { run_type: OK, format: OK, model: OK, usage: { ok: false, reason: 'no usage_metadata' } },
    provider: null,
    model: null,
    model_source: null,
    input_format: null,
    output_format: null,
    input_tokens: null,
    output_tokens: null,
    usage_source: { input: null, output: null },
    issues: [],
    ...changes,
  }
}

function printed(
  create: (print: (text: string) => void) => ReportWriter,
  runs: readonly ReportedRun[],
  rejected: readonly RejectedItem[] = [],
): string {
  const lines: string[] = []
  const writer = create((text) => void lines.push(text))
  for (const item of rejected) writer.rejected(item)
  for (const run of runs) writer.run(run)
  writer.end(false, SUMMARY)
  return lines.join('\n')
}

describe('createGithubReport', () => {
  it('prints equal faults of several runs as one annotation', () => {
    const [first, ...others] = printed(createGithubReport, [call(1), call(2)]).split('\n')
    expect(first).toMatch(
      /^::error title=usage%3A Chat::no usage_metadata \(2 runs, such as 01a1[\da-f-]+1\)%0AFix: Put usage_metadata/,
    )
    expect(others.join('\n')).toMatch(/^✗ 1 run/)
  })

  it('escapes what would end a command, and has a warning for a warning', () => {
    const issues: ReportedRun['issues'] = [
      { code: 'unknown_role', severity: 'warning', path: 'inputs.a', message: 'Odd.' },
      { code: 'reasoning_added', severity: 'info', path: '', message: 'Added.' },
    ]
    const text = printed(createGithubReport, [call(1, { valid: true, issues })], [REFUSED])
    expect(text.split('\n').slice(0, 2)).toEqual([
      '::error title=rejected%3A invalid_run_id at id::100%25 wrong%0Aid (run x,1)',
      `::warning title=unknown_role at inputs.a::Odd. (run ${call(1).run_id})`,
    ])
    expect(text).not.toContain('Added.')
  })

  it('stops at fifty and says how many there are more', () => {
    const many = Array.from({ length: 60 }, (_, n) => call(1, { name: `Chat ${n}` }))
    const lines = printed(createGithubReport, many).split('\n')
    expect(lines.filter((line) => line.startsWith('::error'))).toHaveLength(50)
    expect(lines).toContain('::warning title=weir validate::10 further faults have no annotation.')
  })
})

describe('createJunitReport', () => {
  it('has a case for each run and each refused item', () => {
    const good = call(2, { valid: true, name: '<a & "b">\u0000\ud800' })
    expect(printed(createJunitReport, [call(1), good], [REFUSED]).split('\n')).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites tests="3" failures="2">',
      '<testsuite name="weir validate" tests="3" failures="2" errors="0" skipped="0">',
      '<testcase classname="rejected" name="x,1"><failure type="invalid_run_id" message="invalid_run_id at id">100% wrong\\u000aid</failure></testcase>',
      expect.stringMatching(
        /^<testcase classname="llm" name="Chat 01a1[\da-f-]+1"><failure type="usage" message="usage: no usage_metadata">Put .*<\/failure><\/testcase>$/,
      ),
      `<testcase classname="llm" name="&lt;a &amp; &quot;b&quot;&gt;\\u0000\ufffd ${good.run_id}"/>`,
      '</testsuite>',
      '</testsuites>',
    ])
  })
})

describe('createJsonReport', () => {
  it.each([
    [[], [REFUSED]],
    [[call(1), call(2)], []],
    [
      [call(1), call(2)],
      [REFUSED, REFUSED],
    ],
  ])('is one JSON value', (runs, rejected) => {
    const report: unknown = JSON.parse(printed(createJsonReport, runs, rejected))
    expect(report).toEqual({ runs, rejected, summary: SUMMARY, valid: false })
  })
})
