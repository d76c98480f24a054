import { isObject, type JsonObject } from '../../../schema/json.ts'
import { ToolFailure } from './arguments.ts'
import { fitAnswer, TOKENS_ARGUMENT } from './budget.ts'
import { nodeLine } from './outline.ts'
import { readRun, readTool, readTrace, type RunJson, type ToolContext } from './tool.ts'

export const explainCostTool = readTool(
  'explain_cost',
  ['runs:read', 'workspaces:read'],
  'Where the cost of a run or a trace comes from, or what is missing and how to set it.',
  {
    run_id: { type: 'text', description: 'Id of a run.' },
    trace_id: { type: 'text', description: 'Id of a trace.' },
    max_tokens: TOKENS_ARGUMENT,
  },
  async (args, context) => {
    const [run_id, trace_id] = [args.text('run_id'), args.text('trace_id')]
    const max = args.integer('max_tokens')
    if (run_id !== undefined) {
      const lines = await explainRun(await readRun(context.ask, run_id), context)
      return fitAnswer(lines, max, context.count)
    }
    if (trace_id === undefined) throw new ToolFailure('explain_cost needs run_id or trace_id.')
    return await explainTrace(trace_id, max, context)
  },
)

/** Model calls whose cost is explained one by one; one of each model comes first. */
const EXPLAINED = 8

async function explainTrace(trace_id: string, max: number, context: ToolContext): Promise<string> {
  const { nodes, outline } = await readTrace(context.ask, trace_id)
  const calls = nodes.filter(({ run_type }) => run_type === 'llm' || run_type === 'embedding')
  const unpriced = calls.filter(({ cost }) => cost === null)
  const { total_cost, unpriced_runs, total_tokens } = outline.totals ?? {}
  const head = [
    `${calls.length} model calls, ${Number(total_tokens ?? 0)} tokens, total ${dollars(total_cost)}; ${Number(unpriced_runs ?? 0)} calls have tokens but no price and are not in the total.`,
    ...(unpriced.length > 0 ? ['Calls without a cost:'] : []),
  ]
  const chosen = distinct(unpriced.length > 0 ? unpriced : calls, ({ model }) => model ?? '').slice(
    0,
    EXPLAINED,
  )
  const explained = await Promise.all(
    chosen.map(async (node) => {
      const lines = await explainRun(await readRun(context.ask, node.id), context)
      return [nodeLine({ ...node, depth: 0 }), ...lines.map((line) => `  ${line}`)]
    }),
  )
  const left = calls.length - chosen.length
  const end = left > 0 ? [`${left} further model calls; explain_cost with run_id explains one.`] : []
  return fitAnswer([...head, ...explained.flat(), ...end], max, context.count)
}

/** The items with a new key first. */
function distinct<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Set<string>()
  const first = items.filter((item) => !seen.has(keyOf(item)) && seen.add(keyOf(item)))
  return [...first, ...items.filter((item) => !first.includes(item))]
}

async function explainRun(run: RunJson, { ask }: ToolContext): Promise<string[]> {
  const { llm } = run
  if (!isObject(llm))
    return [
      `${String(run['run_type'])} run: its numbers are the sums of the model calls below it.`,
      `tokens ${String(run['total_tokens'] ?? 0)}, cost ${dollars(run['total_cost'])}`,
    ]
  const { model, model_source, provider, usage_source } = llm
  const source = isObject(usage_source) ? usage_source : {}
  const [input, output] = [run['prompt_tokens'], run['completion_tokens']]
  const lines = [
    `model ${String(model ?? 'unknown')} (from ${String(model_source ?? 'nothing')}), provider ${String(provider ?? 'unknown')}`,
    `input ${String(input ?? 'unknown')} tokens (${String(source['input'] ?? 'not sent')}), output ${String(output ?? 'unknown')} tokens (${String(source['output'] ?? 'not sent')})`,
    `cost ${dollars(run['total_cost'])} = input ${dollars(run['prompt_cost'])} + output ${dollars(run['completion_cost'])}${sourceText(run)}`,
    ...detailLines(run),
  ]
  if (isUnknown(model))
    lines.push(
      'no model: send ls_model_name in extra.metadata (LangSmith), or gen_ai.request.model on the span.',
    )
  if (isUnknown(input) && isUnknown(output))
    lines.push(
      'no usage: put usage_metadata with input_tokens and output_tokens into outputs or metadata, or gen_ai.usage.input_tokens and gen_ai.usage.output_tokens on the span.',
    )
  if (typeof model === 'string') lines.push(await priceLine(run, { model, provider }, ask))
  return [...lines, ...issueLines(run)]
}

function isUnknown(value: unknown): boolean {
  return value === null || value === undefined
}

function dollars(value: unknown): string {
  return isUnknown(value) ? 'unknown' : `$${String(value)}`
}

function sourceText({ cost_source, computed_cost }: RunJson): string {
  const computed = isUnknown(computed_cost) ? '' : `; the prices say ${dollars(computed_cost)}`
  return isUnknown(cost_source) ? '' : ` (${String(cost_source)}${computed})`
}

const DETAILS = {
  prompt_cost_details: 'input by kind',
  completion_cost_details: 'output by kind',
  unit_costs: 'besides, in the total',
} as const

function detailLines(run: RunJson): string[] {
  return Object.entries(DETAILS).flatMap(([key, words]) => {
    const details = run[key]
    const parts = isObject(details) ? Object.entries(details) : []
    if (parts.length === 0) return []
    return [`${words}: ${parts.map(([name, value]) => `${name} $${String(value)}`).join(', ')}`]
  })
}

/** The price of a call in dollars a token, or the request that sets one. */
async function priceLine(
  run: RunJson,
  { model, provider }: { model: string; provider: unknown },
  ask: ToolContext['ask'],
): Promise<string> {
  const query = {
    model,
    provider: typeof provider === 'string' ? provider : undefined,
    at: typeof run['start_time'] === 'string' ? run['start_time'] : undefined,
    prompt_tokens: String(run['prompt_tokens'] ?? 0),
  }
  const { price } = (await ask('GET /model-price-map/lookup', { query })) as { price: JsonObject | null }
  if (price === null)
    return `no price for ${model}${typeof provider === 'string' ? ` of ${provider}` : ''}: add one on the page Prices, or POST /api/v1/model-price-map {"name": ${JSON.stringify(model)}, "match_pattern": ${JSON.stringify(`^${escapePattern(model)}$`)}, "prompt_cost": …, "completion_cost": …} (dollars per token), then POST /api/v1/runs/reprice.`
  return `price ${String(price['price_model_id'])} (${String(price['source'])}): ${dollars(price['prompt_cost'])} per input token, ${dollars(price['completion_cost'])} per output token`
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function issueLines({ issues }: RunJson): string[] {
  if (!Array.isArray(issues)) return []
  return issues.flatMap((issue) => {
    if (!isObject(issue) || !/price|usage|cost|unit/.test(String(issue['code']))) return []
    return [`issue ${String(issue['code'])}: ${String(issue['message'] ?? '')}`]
  })
}
