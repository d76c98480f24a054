import { isObject, type JsonObject } from '../../schema/json.ts'
import { containsJson } from './json-contains.ts'

type Compare = (value: unknown, wanted: unknown) => boolean

/** -1, 0 or 1; NaN for what has no order. Numbers and their texts are compared as numbers, other texts by code unit. */
function order(a: unknown, b: unknown): number {
  const [x, y] = [Number(a), Number(b)]
  if (!Number.isNaN(x) && !Number.isNaN(y)) return Math.sign(x - y)
  if (typeof a !== 'string' || typeof b !== 'string') return Number.NaN
  return a < b ? -1 : a > b ? 1 : 0
}

const OPERATORS: Readonly<Record<string, Compare>> = {
  $eq: (value, wanted) => value === wanted,
  $ne: (value, wanted) => value !== wanted,
  $gt: (value, wanted) => order(value, wanted) > 0,
  $gte: (value, wanted) => order(value, wanted) >= 0,
  $lt: (value, wanted) => order(value, wanted) < 0,
  $lte: (value, wanted) => order(value, wanted) <= 0,
  $in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
  $nin: (value, wanted) => !Array.isArray(wanted) || !wanted.includes(value),
}

function fits(value: unknown, wanted: unknown): boolean {
  if (!isObject(wanted)) return containsJson(value, wanted)
  const names = Object.keys(wanted)
  if (!names.every((name) => Object.hasOwn(OPERATORS, name))) return containsJson(value, wanted)
  return names.every((name) => OPERATORS[name]?.(value, wanted[name]) === true)
}

/** Whether an item's value is what a search's `filter` asks for, field by field. */
export function matchesFilter(value: JsonObject, filter: JsonObject): boolean {
  return Object.keys(filter).every((key) =>
    fits(Object.hasOwn(value, key) ? value[key] : undefined, filter[key]),
  )
}

/** Whether a namespace begins or ends with labels, of which `*` is any. */
export function matchesLabels(
  namespace: readonly string[],
  labels: readonly string[],
  where: 'prefix' | 'suffix',
): boolean {
  if (labels.length > namespace.length) return false
  const from = where === 'prefix' ? 0 : namespace.length - labels.length
  return labels.every((label, i) => label === '*' || label === namespace[from + i])
}
