import { isObject, type JsonObject } from '../../schema/json.ts'

/**
 * Converts LangGraph's event of mode `tools` to an event of the channel `tools`. LangGraph for Python already sends the
 * events of the channel.
 */
export function toolEvent(event: JsonObject): JsonObject {
  if (String(event['event']).startsWith('tool-')) return event
  const tool_call_id = event['toolCallId'] ?? event['tool_call_id'] ?? ''
  const { data } = event
  switch (event['event']) {
    case 'on_tool_start':
      return {
        event: 'tool-started',
        tool_call_id,
        tool_name: event['name'] ?? '',
        input: event['input'] ?? null,
      }
    case 'on_tool_event':
      return {
        event: 'tool-output-delta',
        tool_call_id,
        delta: typeof data === 'string' ? data : JSON.stringify(data ?? ''),
      }
    case 'on_tool_end':
      return { event: 'tool-finished', tool_call_id, output: event['output'] ?? null }
    default:
      return { event: 'tool-error', tool_call_id, message: errorText(event['error']) }
  }
}

function errorText(error: unknown): string {
  if (isObject(error) && typeof error['message'] === 'string') return error['message']
  return typeof error === 'string' ? error : 'The tool failed.'
}
