import type { Issue } from '../../../schema/issue.ts'
import type { JsonValue } from '../../../schema/json.ts'

/**
 * Reads the count at `key` of the object at `base` by rule N1: an integer of at least 0. Digits in a string are used and
 * reported as an issue; any other value is dropped and reported.
 */
export function readCount(
  value: JsonValue | undefined,
  base: string,
  key: string,
  issues: Issue[],
): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  const path = `${base}.${key}`
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) {
    issues.push({
      code: 'count_as_string',
      severity: 'warning',
      path,
      message: `The count came as the string "${value}" and was read as a number.`,
      fix: 'Send token counts as integers.',
    })
    return Number(value)
  }
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER) {
    const rounded = Math.round(value)
    issues.push({
      code: 'count_not_integer',
      severity: 'warning',
      path,
      message: `The count ${value} is not an integer and was rounded to ${rounded}.`,
      fix: 'Send token counts as integers.',
    })
    return rounded
  }
  issues.push({
    code: 'invalid_count',
    severity: 'warning',
    path,
    message: 'A token count must be an integer of at least 0 and below 2^53; this one was dropped.',
    fix: 'Send a non-negative integer, or leave the field out.',
  })
  return undefined
}
