import { isObject } from '../../schema/json.ts'

/**
 * Whether `value` has all of `wanted`: scalars are equal, each key of an object contains what is wanted of it, each
 * wanted element of an array is contained in one of the value's.
 */
export function containsJson(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && wanted.every((item) => value.some((one) => containsJson(one, item)))
  }
  if (isObject(wanted)) {
    if (!isObject(value)) return false
    return Object.keys(wanted).every(
      (key) => Object.hasOwn(value, key) && containsJson(value[key], wanted[key]),
    )
  }
  return value === wanted
}
