import type { Issue } from '../../../schema/issue.ts'
import { isObject } from '../../../schema/json.ts'
import type { Usage } from './record.ts'
import type { FoundUsage } from './places.ts'
import type { UnreadNumber } from './walk.ts'

const SIDES = ['input', 'output'] as const
const MOST_NAMED = 5

/** Reports the numbers of usage objects that no row knows, and objects that were too large to visit (rule U7). */
export function reportUnread(places: readonly FoundUsage[], usage: Usage, issues: Issue[]): void {
  const { input, output } = usage.source
  const isRead = places.every(({ reading }) => reading.unread.length === 0 && !reading.isCut)
  if (isRead && input !== null && output !== null) return
  const unread = new Map<string, UnreadNumber>()
  for (const { reading } of places) for (const number of reading.unread) unread.set(number.path, number)
  for (const number of [...loneTotal(places, usage), ...loneDetails(places, usage)])
    unread.set(number.path, number)
  const cut = places.find(({ reading }) => reading.isCut)
  if (unread.size === 0 && cut === undefined) return
  const named = [...unread.values()].slice(0, MOST_NAMED).map(({ path, value }) => `${path} ${value}`)
  const more = unread.size > named.length ? ` and ${unread.size - named.length} more` : ''
  const parts = [
    ...(named.length > 0
      ? [`These numbers are in no table of usage and were not read: ${named.join(', ')}${more}.`]
      : []),
    ...(cut === undefined ? [] : [`${cut.path} has too many keys; only the first ones were read.`]),
  ]
  issues.push({
    code: 'usage_unread',
    severity: 'warning',
    path: unread.values().next().value?.path ?? cut!.path,
    message: parts.join(' '),
    fix: 'Report the names with the vendor or SDK and its version, or send the counts as usage_metadata.',
  })
}

/** A total without sides: only an estimate can split it. */
function loneTotal(places: readonly FoundUsage[], usage: Usage): UnreadNumber[] {
  if (usage.source.input !== null || usage.source.output !== null) return []
  for (const { reading, path } of places) {
    const total = reading.value['total_tokens']
    if (total) return [{ path: `${path}.total_tokens`, value: String(total) }]
  }
  return []
}

/** Details of a side whose count no place has. */
function loneDetails(places: readonly FoundUsage[], usage: Usage): UnreadNumber[] {
  return places.flatMap(({ reading, path }) =>
    SIDES.flatMap((side) => {
      const details = reading.value[`${side}_token_details`]
      if (usage.source[side] !== null || !isObject(details)) return []
      return Object.entries(details)
        .filter(([, count]) => Boolean(count))
        .map(([name, count]) => ({ path: `${path}.${side}_token_details.${name}`, value: String(count) }))
    }),
  )
}
