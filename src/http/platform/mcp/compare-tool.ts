import { isObject, type JsonValue } from '../../../schema/json.ts'
import { cutText, fitAnswer, TOKENS_ARGUMENT } from './budget.ts'
import { type OutlineNode } from './outline.ts'
import { numberOf, readRun, readTool, readTrace, type RunJson, type ToolContext } from './tool.ts'

export const compareTool = readTool(
  'compare',
  ['runs:read'],
  'What differs between two traces or two runs: steps, status, models, tokens, cost, duration, first differing message.',
  {
    a: { type: 'text', required: true, description: 'Id of a trace or run.' },
    b: { type: 'text', required: true, description: 'Id of the other one.' },
    max_tokens: TOKENS_ARGUMENT,
  },
  async (args, { ask, count }) => {
    const [a, b] = await Promise.all([readRun(ask, args.required('a')), readRun(ask, args.required('b'))])
    const lines = [...figureLines(a, b), ...(await stepLines(a, b, ask)), ...(await messageLines(a, b, ask))]
    const text =
      lines.length === 0
        ? ['Nothing differs in status, models, tokens, cost, duration, steps and messages.']
        : lines
    return fitAnswer(text, args.integer('max_tokens'), count)
  },
)

function durationOf({ start_time, end_time }: RunJson): number | null {
  if (typeof start_time !== 'string' || typeof end_time !== 'string') return null
  return Date.parse(end_time) - Date.parse(start_time)
}

function figureLines(a: RunJson, b: RunJson): string[] {
  const rows: [string, unknown, unknown][] = [
    ['name', a['name'], b['name']],
    ['type', a['run_type'], b['run_type']],
    ['status', a['status'], b['status']],
    ['error', a['error'], b['error']],
    ['duration in ms', durationOf(a), durationOf(b)],
    ['input tokens', numberOf(a['prompt_tokens']), numberOf(b['prompt_tokens'])],
    ['output tokens', numberOf(a['completion_tokens']), numberOf(b['completion_tokens'])],
    ['cost', a['total_cost'], b['total_cost']],
    ['model', modelOf(a), modelOf(b)],
  ]
  return rows.flatMap(([what, one, other]) =>
    (one ?? null) === (other ?? null) ? [] : [`${what}: ${shown(one)} → ${shown(other)}`],
  )
}

function modelOf({ llm }: RunJson): unknown {
  return isObject(llm) ? llm['model'] : null
}

function shown(value: unknown): string {
  return value === null || value === undefined ? 'none' : cutText(String(value).replaceAll(/\s+/g, ' '), 200)
}

/** The nodes of a trace, or the run alone if it is inside a trace. */
async function nodesOf(run: RunJson, ask: ToolContext['ask']): Promise<OutlineNode[]> {
  if (run['id'] !== run['trace_id']) return []
  return (await readTrace(ask, String(run['trace_id']))).nodes
}

/** How often each step occurs, where that differs, and steps whose status differs. */
async function stepLines(a: RunJson, b: RunJson, ask: ToolContext['ask']): Promise<string[]> {
  const [left, right] = await Promise.all([nodesOf(a, ask), nodesOf(b, ask)])
  const keyOf = ({ name, run_type, status, model }: OutlineNode): string =>
    `${name} [${run_type}${model === null ? '' : ` ${model}`}]${status === 'success' ? '' : ` ${status}`}`
  const counts = new Map<string, [number, number]>()
  for (const [side, nodes] of [left, right].entries()) {
    for (const node of nodes) {
      const pair = counts.get(keyOf(node)) ?? [0, 0]
      pair[side]! += 1
      counts.set(keyOf(node), pair)
    }
  }
  const differing = [...counts].filter(([, [one, other]]) => one !== other)
  if (differing.length === 0) return []
  const lines = differing.map(([step, [one, other]]) => `  ${step}: ${one} → ${other}`)
  return [`steps: ${left.length} → ${right.length} runs`, ...lines]
}

const PAIRS = 5

/** The first message of the model calls, pair by pair, that differs. */
async function messageLines(a: RunJson, b: RunJson, ask: ToolContext['ask']): Promise<string[]> {
  const [left, right] = await Promise.all([callsOf(a, ask), callsOf(b, ask)])
  for (let i = 0; i < Math.min(PAIRS, left.length, right.length); i += 1) {
    const [one, other] = await Promise.all([readRun(ask, left[i]!), readRun(ask, right[i]!)])
    for (const side of ['input', 'output'] as const) {
      const [from, to] = [messagesOf(one, side), messagesOf(other, side)]
      for (let at = 0; at < Math.max(from.length, to.length); at += 1) {
        const [x, y] = [JSON.stringify(from[at] ?? null), JSON.stringify(to[at] ?? null)]
        if (x === y) continue
        const place = `model call ${i + 1} (id:${left[i]!.slice(-8)}, id:${right[i]!.slice(-8)}), ${side} message ${at}`
        return [
          `first differing message: ${place}`,
          `  a: ${aroundDifference(x, y)}`,
          `  b: ${aroundDifference(y, x)}`,
        ]
      }
    }
  }
  return []
}

async function callsOf(run: RunJson, ask: ToolContext['ask']): Promise<string[]> {
  if (isObject(run['llm'])) return [String(run['id'])]
  return (await nodesOf(run, ask)).filter(({ run_type }) => run_type === 'llm').map(({ id }) => id)
}

function messagesOf({ llm }: RunJson, side: 'input' | 'output'): JsonValue[] {
  const messages = isObject(llm) && isObject(llm['messages']) ? llm['messages'][side] : undefined
  return Array.isArray(messages) ? messages : []
}

/** The part of `text` around the first character that differs from `other`. */
function aroundDifference(text: string, other: string): string {
  let at = 0
  while (at < text.length && text[at] === other[at]) at += 1
  const begin = Math.max(0, at - 80)
  return `${begin > 0 ? '…' : ''}${cutText(text.slice(begin), 300)}`
}
