import { isObject, text } from '../../../schema/json.ts'
import type { SpanView } from '../span/view.ts'
import { haystackType } from './frameworks/haystack.ts'
import { mlflowText } from './frameworks/mlflow.ts'

const RUN_TYPES = new Set(['tool', 'chain', 'llm', 'retriever', 'embedding', 'prompt', 'parser'])

/** Run types by the values of the attributes in KIND_KEYS. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ...[...RUN_TYPES].map((type) => [type, type] as const),
  ['chat', 'llm'],
  ['completion', 'llm'],
  ['text_completion', 'llm'],
  ['generate_content', 'llm'],
  ['generation', 'llm'],
  ['chat_model', 'llm'],
  ['responses', 'llm'],
  ['anthropic_messages', 'llm'],
  ['call_llm', 'llm'],
  // Kinds of Semantic Kernel.
  ['chat.completions', 'llm'],
  ['chat.streaming_completions', 'llm'],
  ['text.completions', 'llm'],
  ['text.streaming_completions', 'llm'],
  ['embeddings', 'embedding'],
  ['execute_tool', 'tool'],
  ['tool_call', 'tool'],
  ['retrieval', 'retriever'],
  ['retrieve', 'retriever'],
  ['reranker', 'retriever'],
  ['rerank', 'retriever'],
  ['invoke_agent', 'chain'],
  ['create_agent', 'chain'],
  ['invoke_workflow', 'chain'],
  ['agent_step', 'chain'],
  ['agent', 'chain'],
  ['workflow', 'chain'],
  ['task', 'chain'],
  ['guardrail', 'chain'],
  ['decision', 'llm'],
  ['evaluator', 'chain'],
])
const KIND_KEYS = [
  'gen_ai.operation.name',
  'llm.request.type',
  'openinference.span.kind',
  'traceloop.span.kind',
  'langfuse.observation.type',
  'spring.ai.kind',
]

/**
 * The run type of a span. A parent that repeats the sums of its children is a chain, whatever its other attributes
 * are (rule N6): `ai.generateText`, invoke_agent, workflows.
 */
export function runTypeOf(view: SpanView): string {
  const sent = view.text('langsmith.span.kind')?.toLowerCase()
  if (sent !== undefined && RUN_TYPES.has(sent)) return sent
  const vercel = view.text('ai.operationId')
  if (vercel !== undefined) return vercelType(vercel)
  for (const key of KIND_KEYS) {
    const known = kindOf(view.text(key)?.toLowerCase() ?? '')
    if (known !== undefined) return known
  }
  if (countsBefore(view)) return 'chain'
  if (isClaudeCode(view)) return 'llm'
  if (view.span.name === 'claude_code.tool') return 'tool'
  const braintrust = view.json('braintrust.span_attributes')
  const named = isObject(braintrust) ? kindOf(text(braintrust['type'])?.toLowerCase() ?? '') : undefined
  if (named !== undefined) return named
  const mlflow = kindOf(mlflowText(view, 'mlflow.spanType')?.toLowerCase() ?? '')
  if (mlflow !== undefined) return mlflow
  if (view.text('gen_ai.tool.name') !== undefined) return 'tool'
  if (view.get('llm.prompt_template.variables') !== undefined) return 'prompt'
  return haystackType(view) ?? unnamedType(view)
}

/** Whether this is a call of a model by Claude Code, whose attributes have no prefix. */
export function isClaudeCode({ span }: SpanView): boolean {
  return span.name === 'claude_code.llm_request'
}

/** The run type of a kind. LiteLLM puts an `a` before the names of awaited calls. */
function kindOf(word: string): string | undefined {
  if (OTHER_STEP.test(word)) return 'chain'
  return KINDS.get(word) ?? (word.startsWith('a') ? KINDS.get(word.slice(1)) : undefined)
}

/** Operations of agents that are neither calls of a model nor sums of calls. */
const OTHER_STEP = /^plan$|_memory(?:_store)?$/

/** Whether the span only counts the tokens of a prompt before a call. */
function countsBefore(view: SpanView): boolean {
  return [view.text('gen_ai.operation.name'), view.span.name].some((name) =>
    /(?:^|[._ ])count_?tokens$/i.test(name ?? ''),
  )
}

function vercelType(operation: string): string {
  const last = operation.slice(operation.lastIndexOf('.') + 1)
  if (last === 'doGenerate' || last === 'doStream') return 'llm'
  if (last === 'doEmbed') return 'embedding'
  if (last === 'doRerank') return 'retriever'
  return last === 'toolCall' ? 'tool' : 'chain'
}

/** The run type of a span without a kind: a call of a model has a model and messages. */
function unnamedType(view: SpanView): string {
  const genkit = view.text('genkit:metadata:subtype', 'genkit:type')
  if (genkit === 'model') return 'llm'
  if (genkit === 'tool' || genkit === 'embedder' || genkit === 'retriever')
    return genkit === 'embedder' ? 'embedding' : genkit
  if (view.get('gcp.vertex.agent.llm_request') !== undefined) return 'llm'
  if (view.text('gen_ai.agent.name', 'agent_name') !== undefined) return 'chain'
  const hasModel = view.text(...MODELS) !== undefined
  return hasModel && (speaksToModel(view) || hasCounts(view)) ? 'llm' : 'chain'
}

/** Names of the model of a call. */
const MODELS = ['gen_ai.request.model', 'gen_ai.response.model', 'llm.model', 'llm.model_name']

/** Names of counts of a call. Sums of several calls have others. */
const COUNTS = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.prompt_tokens',
  'gen_ai.usage.completion_tokens',
  'llm.token_count.prompt',
  'llm.token_count.completion',
  'llm.usage.total_tokens',
  'llm.token.counts.prompt',
  'llm.token.counts.completion',
  'decision.token_count.input',
  'decision.token_count.prompt',
]

export function sentCountsOf(view: SpanView): { key: string; count: number }[] {
  return COUNTS.flatMap((key) => {
    const count = view.number(key)
    return count === undefined ? [] : [{ key, count }]
  })
}

/** Whether spans of this type are calls of a model, whose counts are counted. */
export function isOfModel(runType: string): boolean {
  return runType === 'llm' || runType === 'embedding'
}

/** Whether a span has counts that are not counted, although it is no known sum of its children (rule U9). */
export function dropsCounts(view: SpanView, runType: string): boolean {
  if (isOfModel(runType) || !hasCounts(view) || countsBefore(view)) return false
  return !repeatsCalls(view) && view.text('langsmith.span.kind') === undefined
}

/** Counts that only sums of calls have. */
const SUMS = [
  'ai.usage.inputTokens',
  'ai.usage.outputTokens',
  'ai.usage.promptTokens',
  'ai.usage.completionTokens',
  'ai.usage.tokens',
  'gen_ai.aggregated_usage.input_tokens',
  'gen_ai.aggregated_usage.output_tokens',
]

/** Whether a span has the sum of the calls below it, which counts if no TraceRun below it has usage (rule U9). */
export function isSum(view: SpanView): boolean {
  if (!hasCounts(view) && view.number(...SUMS) === undefined) return false
  // Other parents repeat the counts of calls that need not be below them.
  if (view.text('gen_ai.operation.name', 'ai.operationId', ...MODELS) === undefined) return false
  return repeatsCalls(view) && !countsBefore(view) && view.text('langsmith.span.kind') === undefined
}

/** Whether the span is an agent, a workflow, or another parent of calls. */
function repeatsCalls(view: SpanView): boolean {
  if (view.text('ai.operationId', 'gen_ai.agent.name', 'agent_name') !== undefined) return !isOtherStep(view)
  return (
    KIND_KEYS.some((key) => kindOf(view.text(key)?.toLowerCase() ?? '') === 'chain') && !isOtherStep(view)
  )
}

function isOtherStep(view: SpanView): boolean {
  return OTHER_STEP.test(view.text('gen_ai.operation.name')?.toLowerCase() ?? '')
}

/** Whether a span has token counts; with a model, it is a call even without content (rule U9). */
function hasCounts(view: SpanView): boolean {
  return view.number(...COUNTS) !== undefined
}

function speaksToModel(view: SpanView): boolean {
  const request = view.json('request_data')
  return (
    view.get('gen_ai.input.messages') !== undefined ||
    view.group('gen_ai.prompt').length > 0 ||
    (isObject(request) && (Array.isArray(request['messages']) || request['input'] !== undefined)) ||
    view.span.events.some(({ name }) => name === 'gen_ai.choice' || name === 'gen_ai.content.prompt')
  )
}
