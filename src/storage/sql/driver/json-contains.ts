import { isObject } from '../../../schema/json.ts'

/**
 * Whether `value` contains `wanted`: equal scalars; objects of which each wanted key contains the wanted value; arrays
 * of which some element contains each wanted element.
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
