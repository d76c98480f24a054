import { isExactInteger } from '../../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import { ToolFailure } from './arguments.ts'
import { cutText } from './budget.ts'
import { PAGE_ARGUMENTS, charPage } from './run-tools.ts'
import { projectId, readRun, readTool, type ToolContext } from './tool.ts'

export const threadHistoryTool = readTool(
  'get_thread_history',
  ['projects:read', 'runs:read'],
  'The messages of a conversation, as its last model call had them, page by page.',
  {
    thread_id: { type: 'text', required: true, description: 'Id of the thread.' },
    project_name: { type: 'text', required: true, description: 'Name of the project.' },
    ...PAGE_ARGUMENTS,
  },
  async (args, { ask }) => {
    const thread_id = args.required('thread_id')
    const session = await projectId(ask, args.required('project_name'))
    const messages = await lastMessages(ask, session, thread_id)
    const preview = args.integer('preview_chars')
    return charPage(
      'result',
      messages.map((message) => cutTexts(message, preview)),
      {
        page_number: args.integer('page_number'),
        max_chars_per_page: args.integer('max_chars_per_page'),
        preview_chars: preview,
      },
    )
  },
)

/** Input and output of the newest model call of the thread. */
async function lastMessages(
  ask: ToolContext['ask'],
  session: string,
  thread_id: string,
): Promise<JsonValue[]> {
  const ofThread = `eq(thread_id, ${JSON.stringify(thread_id)})`
  const newest = async (body: JsonObject): Promise<string | undefined> => {
    const page = { session: [session], select: ['id', 'trace_id'], limit: 1, order: 'desc', ...body }
    const { runs } = (await ask('POST /runs/query', { body: page })) as {
      runs: { id: string; trace_id: string }[]
    }
    return body['trace'] === undefined ? runs[0]?.trace_id : runs[0]?.id
  }
  const trace = await newest({ filter: ofThread, is_root: true })
  if (trace === undefined)
    throw new ToolFailure(
      `The project has no thread "${thread_id.slice(0, 200)}". fetch_runs with is_root shows thread ids.`,
    )
  const call = await newest({ trace, run_type: 'llm' })
  const run = await readRun(ask, call ?? trace)
  const llm = isObject(run['llm']) ? run['llm'] : {}
  const { input, output } = isObject(llm['messages']) ? llm['messages'] : {}
  if (!Array.isArray(input)) return [{ inputs: run['inputs'] ?? null, outputs: run['outputs'] ?? null }]
  return [...input, ...(Array.isArray(output) ? output : [])]
}

function cutTexts(value: JsonValue, chars: number): JsonValue {
  if (typeof value === 'string') return cutText(value, chars)
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, chars))
  if (typeof value !== 'object' || value === null || isExactInteger(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, cutTexts(part ?? null, chars)]))
}
