import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../base/errors.ts'
import { isExactInteger } from '../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import type { AccessUser } from '../model.ts'
import type { Visible } from '../run-store.ts'

/** The action of a user, by its name in LangGraph's `Auth` (`@langchain/langgraph-sdk/auth`). */
export type AccessEvent =
  | `threads:${'create' | 'read' | 'update' | 'delete' | 'search' | 'create_run'}`
  | `assistants:${'create' | 'read' | 'update' | 'delete' | 'search'}`
  | `crons:${'create' | 'read' | 'update' | 'delete' | 'search'}`
  | `store:${'put' | 'get' | 'search' | 'list_namespaces' | 'delete'}`

/** The answer of a handler of the auth file. */
export interface Answer {
  /**
   * The condition on the metadata of visible records: for each key a value, `{"$eq": value}` or `{"$contains": value or
   * values}`. Null if all records are visible.
   */
  filter: JsonObject | null
  /** The fields of the value that the handler has changed. */
  value: JsonObject
}

/** Calls the handlers of the deployment's own auth file. */
export interface AccessRules {
  /** @throws AppError forbidden or the handler's own error; auth_unavailable, auth_failed */
  ask(user: AccessUser, event: AccessEvent, value: JsonObject): Promise<Answer>
}

/** The permission of a user for one event. */
export interface Ruling<V extends JsonObject = JsonObject> {
  /** Undefined if everything is visible. */
  visible: Visible | undefined
  /** The filter from which `visible` was made; null if everything is visible. */
  filter: JsonObject | null
  value: V
}

/** Calls the handlers for one user. */
export type Ask = <V extends JsonObject>(event: AccessEvent, value: V) => Promise<Ruling<V>>

/** @throws AppError as `AccessRules.ask` */
export function askFor(rules: AccessRules, user: AccessUser): Ask {
  return async (event, value) => {
    const { filter, value: answered } = await rules.ask(user, event, value)
    return { visible: toVisible(filter), filter, value: { ...value, ...answered } }
  }
}

/** Whether a record is visible. */
export function passesRuling({ visible }: Pick<Ruling, 'visible'>, metadata: JsonObject): boolean {
  return visible === undefined || visible(metadata)
}

/**
 * The condition of a handler's filter. @throws AppError auth_failed for an invalid filter, which must not make
 * everything visible
 */
export function toVisible(filter: JsonObject | null): Visible | undefined {
  if (filter === null) return undefined
  const tests = Object.entries(filter).map(([key, wanted]) => [key, testOf(key, wanted)] as const)
  return (metadata) =>
    tests.every(([key, test]) => test(Object.hasOwn(metadata, key) ? metadata[key] : undefined))
}

type Test = (value: JsonValue | undefined) => boolean

function testOf(key: string, wanted: JsonValue | undefined): Test {
  if (!isObject(wanted) || isExactInteger(wanted))
    return (value) => value !== undefined && isDeepStrictEqual(value, wanted)
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
