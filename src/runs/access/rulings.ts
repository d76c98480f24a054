import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import type { AccessUser } from '../model.ts'
import type { Visible } from '../run-store.ts'

/** What a user wants to do, in the names of LangGraph's `Auth` (`@langchain/langgraph-sdk/auth`). */
export type AccessEvent =
  | `threads:${'create' | 'read' | 'update' | 'delete' | 'search' | 'create_run'}`
  | `assistants:${'create' | 'read' | 'update' | 'delete' | 'search'}`
  | `crons:${'create' | 'read' | 'update' | 'delete' | 'search'}`
  | `store:${'put' | 'get' | 'search' | 'list_namespaces' | 'delete'}`

/** What a handler of the auth file has answered. */
export interface Answer {
  /** Only things with such metadata: by key a value, `{"$eq": value}` or `{"$contains": value or values}`. Null for all. */
  filter: JsonObject | null
  /** As the handler left it: it may have changed it. */
  value: JsonObject
}

/** Asks the deployment's own auth file. */
export interface AccessRules {
  /** @throws AppError forbidden, or as the handler says; auth_unavailable, auth_failed */
  ask(user: AccessUser, event: AccessEvent, value: JsonObject): Promise<Answer>
}

/** What a user may do: the answer for one event. */
export interface Ruling<V extends JsonObject = JsonObject> {
  /** Undefined: everything is to be seen. */
  visible: Visible | undefined
  /** What `visible` goes by, as data; null: everything is to be seen. */
  filter: JsonObject | null
  value: V
}

/** Asks in the name of one user. */
export type Ask = <V extends JsonObject>(event: AccessEvent, value: V) => Promise<Ruling<V>>

/** @throws AppError as `AccessRules.ask` */
export function askFor(rules: AccessRules, user: AccessUser): Ask {
  return async (event, value) => {
    const { filter, value: answered } = await rules.ask(user, event, value)
    return { visible: toVisible(filter), filter, value: { ...value, ...answered } }
  }
}

/** Whether a thing may be seen. */
export function sees({ visible }: Pick<Ruling, 'visible'>, metadata: JsonObject): boolean {
  return visible === undefined || visible(metadata)
}

/**
 * Whether a thing passes a handler's filter.
 * @throws AppError auth_failed for a filter that nobody can apply: it must not let everything through
 */
export function toVisible(filter: JsonObject | null): Visible | undefined {
  if (filter === null) return undefined
  const tests = Object.entries(filter).map(([key, wanted]) => [key, testOf(key, wanted)] as const)
  return (metadata) =>
    tests.every(([key, test]) => test(Object.hasOwn(metadata, key) ? metadata[key] : undefined))
}

type Test = (value: JsonValue | undefined) => boolean

function testOf(key: string, wanted: JsonValue | undefined): Test {
  if (!isObject(wanted)) return (value) => value !== undefined && isDeepStrictEqual(value, wanted)
  const operators = Object.entries(wanted)
  if (operators.length === 0) throw badFilter(key)
  const tests = operators.map(([operator, operand]): Test => {
    if (operand === undefined) throw badFilter(key)
    if (operator === '$eq') return (value) => value !== undefined && isDeepStrictEqual(value, operand)
    if (operator !== '$contains') throw badFilter(key)
    const all = Array.isArray(operand) ? operand : [operand]
    return (value) =>
      Array.isArray(value) && all.every((one) => value.some((item) => isDeepStrictEqual(item, one)))
  })
  return (value) => tests.every((test) => test(value))
}

function badFilter(key: string): AppError {
  return new AppError('auth_failed', {
    message: `The auth handler's filter on "${key}" is neither a value, nor {"$eq"}, nor {"$contains"}.`,
  })
}
