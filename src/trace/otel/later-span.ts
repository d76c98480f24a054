import { isObject, type JsonObject } from '../../schema/json.ts'

/** Of two records of one span the later one, unless it is the same with nothing in it. */
export function laterSpan(before: JsonObject, now: JsonObject): JsonObject {
  return isBare(now) && now['name'] === before['name'] ? before : now
}

function isBare({ attributes, events }: JsonObject): boolean {
  const hasAttributes = isObject(attributes) && Object.keys(attributes).length > 0
  return !hasAttributes && !(Array.isArray(events) && events.length > 0)
}
