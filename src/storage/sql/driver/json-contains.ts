import { isObject } from '../../../schema/json.ts'

/**
 * Whether `value` contains `wanted`. A scalar contains an equal scalar; an object contains an object if the values of
 * its keys contain those of all wanted keys; an array contains an array if each wanted element is contained in one of
 * its elements.
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
