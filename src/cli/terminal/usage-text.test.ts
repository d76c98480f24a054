import { describe, expect, it } from 'vitest'
import type { GranularUsage, UsageDetails } from '../../schema/types.gen.ts'
import { usageText } from './usage-text.ts'

const DAYS = { days: 1, hours: 0 }
const OPTIONS = { colors: false, width: 40, group_by: 'project' }
const line = (day: number, name: string, traces: number): GranularUsage['usage'][number] => ({
  time_bucket: `2026-01-${day}T00:00:00Z`,
  dimensions: { project_id: `id of ${name}`, project_name: name },
  traces,
})

const NOT_ESTIMATED = { estimated_prompt_tokens: 0, estimated_completion_tokens: 0, estimated_cost: null }
const PRICED = { unpriced_runs: 0, unpriced_tokens: 0, units: {} }
const detail = (
  model: string | null,
  prompt: number,
  completion: number,
  total_cost: string | null,
  estimated: Partial<UsageDetails['usage'][number]> = {},
): UsageDetails['usage'][number] => ({
  time_bucket: '2026-01-15T10:00:00Z',
  dimensions: { provider: 'openai', model, base_model: model?.replace(/-\d{4}-.*$/, '') ?? null },
  llm_runs: 1,
  prompt_cost: null,
  completion_cost: null,
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  total_cost,
  ...NOT_ESTIMATED,
  ...PRICED,
  ...estimated,
})

describe('usageText', () => {
  it('a model under two spellings is one line with its versions below it, and groups of one name stay apart', () => {
    const usage = [
      detail('gpt-4.1-mini', 10, 0, '1'),
      detail('gpt-4.1-mini-2025-04-14', 30, 0, '2'),
      detail('gpt-4.1', 5, 0, '3'),
    ]
    const text = usageText({ stride: DAYS, usage }, { ...OPTIONS, group_by: 'model', width: 80 })
    const rows = text.split('\n').filter((row) => row.includes('gpt-'))
    expect(rows.map((row) => [row.trim().split(' ')[0], row.trim().split('$')[1]])).toEqual([
      ['openai/gpt-4.1-mini', '3'],
      ['gpt-4.1-mini-2025-04-14', '2'],
      ['gpt-4.1-mini', '1'],
      ['openai/gpt-4.1', '3'],
    ])
    const twins = [line(15, 'web', 5), { ...line(15, 'web', 3) }]
    twins[1]!.dimensions = { project_id: 'another', project_name: 'web' }
    const names = usageText({ stride: DAYS, usage: twins }, OPTIONS).split('\n')
    expect(names.filter((row) => row.startsWith('  web'))).toHaveLength(2)
  })

  it('draws buckets with the gaps between them, and groups by size', () => {
    const usage = [line(15, 'web', 1500), line(15, 'batch', 500), line(17, 'web', 1)]
    expect(usageText({ stride: DAYS, usage }, OPTIONS).split('\n')).toEqual([
      'Traces per day (UTC)',
      '',
      '  2026-01-15  ███████████████████  2,000',
      '  2026-01-16                           0',
      '  2026-01-17  ▏                        1',
      '',
      'By project',
      '',
      '  web    ████████████████████████  1,501',
      '  batch  ████████                    500',
      '',
      'Total  2,001',
    ])
  })

  it('shows runs of deployments and their nodes', () => {
    const usage = [
      { ...line(15, 'web', 0), agent_runs: 3, nodes_executed: 1200 },
      { ...line(17, 'batch', 0), agent_runs: 1, nodes_executed: 1 },
    ]
    const text = usageText({ stride: DAYS, usage }, { ...OPTIONS, width: 60 })
    expect(text).toContain('Runs of deployments per day (UTC)\n\n  2026-01-15  ')
    expect(text).toMatch(/2026-01-16 +0$/m)
    expect(text).toMatch(/By deployment\n\n {2}web +█+ +3 runs +1,200 nodes\n {2}batch +█+ +1 run +1 node\n/)
    expect(text).toMatch(/Total {2}4 runs {2}1,201 nodes$/)
  })

  it('shows tokens and exact costs', () => {
    const report: UsageDetails = {
      stride: { days: 0, hours: 1 },
      usage: [detail('gpt', 10, 5, '0.1'), detail('o', 10, 0, '0.2'), detail(null, 0, 0, null)],
    }
    const text = usageText(report, { ...OPTIONS, group_by: 'model', width: 60 })
    expect(text).toContain('Tokens per hour (UTC)\n\n  2026-01-15 10:00  ')
    expect(text).toMatch(/openai\/gpt +█+ +10 in +5 out +\$0\.1$/m)
    expect(text).toMatch(/openai +0 in +0 out +–$/m)
    expect(text).toMatch(/Total {2}20 in {2}5 out {2}\$0\.3$/)
  })

  it('marks numbers that are estimated in part, and says how much of them', () => {
    const report: UsageDetails = {
      stride: { days: 0, hours: 1 },
      usage: [
        detail('gpt', 1000, 500, '0.1'),
        detail('own', 10, 5, '0.2', { estimated_completion_tokens: 5, estimated_cost: '0.15' }),
        detail('sent', 10, 5, '0.2', { estimated_prompt_tokens: 10, estimated_cost: '0' }),
      ],
    }
    const text = usageText(report, { ...OPTIONS, group_by: 'model', width: 80 })
    expect(text).toMatch(/openai\/gpt +█+ +1,000 in +500 out +\$0\.1$/m)
    expect(text).toMatch(/openai\/own +▍ +10 in +~5 out +~\$0\.2$/m)
    expect(text).toMatch(/openai\/sent +▍ +~10 in +5 out +\$0\.2$/m)
    expect(text).toMatch(/Total {2}~1,020 in {2}~510 out {2}~\$0\.5\n\n~ in part estimated/)
    expect(text.endsWith('no count was reported for 15 of 1,530 tokens.')).toBe(true)
  })

  it('shows (none) for traces without a user, cuts long names, escapes control characters, and sums up the tail', () => {
    const usage = [
      ...Array.from({ length: 40 }, (_, i) => line(15, `p${i}`, 100 - i)),
      line(15, `\u001b[31m${'x'.repeat(99)}`, 1000),
      { time_bucket: '2026-01-15T00:00:00Z', dimensions: { user_id: null, user_email: null }, traces: 999 },
    ]
    const text = usageText({ stride: DAYS, usage }, { ...OPTIONS, width: 100 })
    expect(text).toMatch(/ {2}\\u001b\[31mx+… {2}█+ {2}1,000/)
    expect(text).not.toContain('\u001b')
    expect(text).toMatch(/\(none\) +█+/)
    expect(text).toContain('  12 others ')
    const all = usage.reduce((sum, { traces }) => sum + traces, 0)
    expect(text.endsWith(`Total  ${all.toLocaleString('en-US')}`)).toBe(true)
  })

  it('prints a message when there is no usage', () => {
    expect(usageText({ stride: DAYS, usage: [] }, OPTIONS)).toBe('Nothing in this range.')
  })

  it('says how many calls and tokens have no price, and where one is added', () => {
    const own = { unpriced_runs: 2, unpriced_tokens: 1_234 }
    const usage = [detail('gpt', 10, 5, '0.1'), detail('mine', 1_000, 234, null, own)]
    const text = usageText({ stride: DAYS, usage }, OPTIONS)
    expect(text).toContain(
      '\n\nNo price: 2 calls with 1,234 tokens, which the costs do not include. The page Prices',
    )
    expect(usageText({ stride: DAYS, usage: usage.slice(0, 1) }, OPTIONS)).not.toContain('No price')
  })
})
