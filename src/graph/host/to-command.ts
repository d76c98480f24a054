import { Command, Send } from '@langchain/langgraph'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'

/** A run's `command` in LangGraph's form: `goto` is a node, a Send `{node, input}`, or a list of both. */
export function toCommand({ goto, update, resume }: JsonObject): Command {
  const targets = goto === undefined || goto === null ? [] : [goto].flat()
  return new Command({
    ...(resume === undefined ? {} : { resume }),
    ...(update === undefined || update === null ? {} : { update: update as Record<string, unknown> }),
    ...(targets.length === 0 ? {} : { goto: targets.map(toTarget) }),
  })
}

function toTarget(target: JsonValue): string | Send {
  if (isObject(target) && typeof target['node'] === 'string') return new Send(target['node'], target['input'])
  return String(target)
}
