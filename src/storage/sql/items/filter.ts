import { isExactInteger } from '../../../schema/exact-json.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'
import { containsJson } from '../driver/json-contains.ts'

type Compare = (value: unknown, wanted: unknown) => boolean

/**
 * The operators of LangGraph's in-memory store. They compare values as numbers, so texts that are not numbers have no
 * order.
 */
const OPERATORS: Readonly<Record<string, Compare>> = {
  $eq: isSame,
  $ne: (value, wanted) => !isSame(value, wanted),
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.some((one) => isSame(value, one)),
  $nin: (value, wanted) => !Array.isArray(wanted) || !wanted.some((one) => isSame(value, one)),
}

function isSame(value: unknown, wanted: unknown): boolean {
  return value === wanted || (isExactInteger(value) && isExactInteger(wanted) && value.text === wanted.text)
}

function fits(value: unknown, wanted: unknown): boolean {
  if (!isObject(wanted)) return containsJson(value, wanted)
  const names = Object.keys(wanted)
  if (!names.every((name) => Object.hasOwn(OPERATORS, name))) return containsJson(value, wanted)
  return names.every((name) => OPERATORS[name]?.(value, wanted[name]) === true)
}

/** Whether an item's value matches a search's `filter`, field by field. */
export function matchesFilter(value: JsonObject, filter: JsonObject): boolean {
  return Object.keys(filter).every((key) =>
    fits(Object.hasOwn(value, key) ? value[key] : undefined, filter[key]),
  )
}

/** Whether a namespace begins or ends with labels, of which `*` matches any. */
export function matchesLabels(
  namespace: readonly string[],
  labels: readonly string[],
  where: 'prefix' | 'suffix',
): boolean {
  if (labels.length > namespace.length) return false
  const from = where === 'prefix' ? 0 : namespace.length - labels.length
  return labels.every((label, i) => label === '*' || label === namespace[from + i])
}
