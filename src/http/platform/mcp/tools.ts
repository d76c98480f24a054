import { AppError } from '../../../base/errors.ts'
import { RpcFault } from '../../mcp/message.ts'
import type { ToolCall, ToolResult, ToolServer } from '../../mcp/tool-server.ts'
import { isRequestFaults } from '../../api/faults.ts'
import { ToolFailure } from './arguments.ts'
import { cutText } from './budget.ts'
import { compareTool } from './compare-tool.ts'
import { explainCostTool } from './cost-tools.ts'
import { docsTools } from './docs-tools.ts'
import { billingUsageTool, runStatsTool } from './figure-tools.ts'
import { RUN_TOOLS } from './run-tools.ts'
import { threadHistoryTool } from './thread-tool.ts'
import type { ReadTool, ToolContext } from './tool.ts'
import { readTraceTool, searchTraceTool } from './trace-tools.ts'

/** Names that a failure lists may be long. */
const MAX_FAILURE_CHARS = 8000

const INSTRUCTIONS =
  'Traces of LLM applications. Outline first, then parts: find a trace with fetch_runs (is_root "true"), read its outline with read_trace, then one part of one run with read_run. explain_cost says why a cost is missing. Answers keep to max_tokens and say how to read on.'

export function platformTools(): readonly ReadTool[] {
  return [
    ...RUN_TOOLS,
    readTraceTool,
    searchTraceTool,
    explainCostTool,
    compareTool,
    runStatsTool,
    threadHistoryTool,
    billingUsageTool,
    ...docsTools(),
  ]
}

/** The tools for the caller of `context`. */
export function toolServer(
  tools: readonly ReadTool[],
  context: ToolContext,
  version: string,
): { call(call: ToolCall): Promise<ToolResult> } & ToolServer {
  return {
    info: { name: 'weir', version },
    instructions: INSTRUCTIONS,
    list: async () => ({ tools: tools.map(({ definition }) => definition) }),
    async call({ name, args }) {
      const tool = tools.find(({ definition }) => definition.name === name)
      if (tool === undefined) {
        const names = tools.map(({ definition }) => definition.name).join(', ')
        throw new RpcFault('invalid_params', `Unknown tool "${name.slice(0, 100)}". Tools: ${names}.`)
      }
      try {
        return textResult(await tool.call(args, context))
      } catch (error) {
        const text = failureText(error) + (await workspacesText(error, context))
        return { ...textResult(cutText(text, MAX_FAILURE_CHARS)), isError: true }
      }
    },
  }
}

function textResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }] }
}

/** What went wrong and what to do next. @throws the error where the caller can do nothing about it */
function failureText(error: unknown): string {
  if (error instanceof ToolFailure) return error.message
  if (!(error instanceof AppError) || (error.status >= 500 && !error.retryable)) throw error
  return `${messageOf(error)}${NEXT[error.code] ?? ''}`
}

/** The workspaces of the caller, if the call needs one. */
async function workspacesText(error: unknown, { ask }: ToolContext): Promise<string> {
  if (!(error instanceof AppError) || error.code !== 'workspace_required') return ''
  const workspaces = (await ask('GET /workspaces')) as { id: string; display_name: string }[]
  const names = workspaces.map(({ id, display_name }) => `${id} (${display_name})`)
  return ` Workspaces: ${names.join(', ')}.`
}

const NEXT: Partial<Record<string, string>> = {
  not_found: '. fetch_runs lists ids of runs and traces.',
  rate_limited: ' Try again in a second.',
  store_unavailable: ' Try again in a few seconds.',
}

function messageOf({ message, details }: AppError): string {
  if (!isRequestFaults(details)) return message
  return details.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ')
}
