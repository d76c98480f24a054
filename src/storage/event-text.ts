import type { EventDraft } from '../events/event-log.ts'

/**
 * Converts events to two texts. `heads` is JSON: for each sequence of events of one run, the run's id, followed by the
 * name and the length of each event. `data` is the concatenated data of all events.
 */
export function joinData(items: readonly EventDraft[]): { heads: string; data: string } {
  const heads: (string | number | null)[][] = []
  let current: string | null | undefined
  for (const { run_id, event, data } of items) {
    if (run_id !== current) heads.push([run_id])
    current = run_id
    heads.at(-1)?.push(event, data.length)
  }
  const data = items.length === 1 ? (items[0]?.data ?? '') : items.map((item) => item.data).join('')
  return { heads: JSON.stringify(heads), data }
}

/** Converts two texts of `joinData` back to events. */
export function splitData(heads: string, data: string): EventDraft[] {
  const items: EventDraft[] = []
  let at = 0
  for (const [run_id, ...rest] of JSON.parse(heads) as [string | null, ...(string | number)[]][]) {
    for (let index = 0; index < rest.length; index += 2) {
      const length = Number(rest[index + 1])
      items.push({ run_id, event: String(rest[index]), data: data.slice(at, at + length) })
      at += length
    }
  }
  return items
}
