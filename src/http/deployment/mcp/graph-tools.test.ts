import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RouteInput } from '../../mcp/ask-route.ts'
import type { ToolCaller } from './call-assistant.ts'
import { graphTools } from './graph-tools.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('MCP-6: the list does not wait for schemas that take long; the tools are there without them', async () => {
  const known = { input_schema: { type: 'object', properties: { text: { type: 'string' } } } }
  const ask = async (name: string, input: RouteInput = {}): Promise<unknown> => {
    if (name === 'POST /assistants/search')
      return ['quick', 'slow'].map((id) => ({ assistant_id: id, graph_id: id, name: id }))
    // The compiler that reads the types of the graph may take a minute for each.
    return input.params?.['assistant_id'] === 'slow' ? await new Promise(() => undefined) : known
  }
  const listed = graphTools({ ask } as ToolCaller, { name: 'weir', version: '1' }).list(undefined)
  await vi.advanceTimersByTimeAsync(10_000)
  const { tools } = await listed
  expect(tools.map(({ name, inputSchema }) => [name, inputSchema])).toEqual([
    ['quick', known.input_schema],
    ['slow', { type: 'object' }],
  ])
})
