import { idOf } from './known-history.ts'
import { differencesOf } from './state-diff.ts'
import type { ThreadStep } from './step.ts'

/** The checkpoint that gave a field of the state its value. */
export interface FoundOrigin {
  field: string
  step: ThreadStep
  /** `set`: its parent has another value. `first`: it has no parent. `unread`: earlier checkpoints are not loaded. */
  kind: 'set' | 'first' | 'unread'
}

/** The selected checkpoint and its loaded ancestors, newest first. */
export function lineOf(steps: readonly ThreadStep[], selected: ThreadStep): ThreadStep[] {
  const byId = new Map(steps.map((step) => [idOf(step), step]))
  const line = [selected]
  for (;;) {
    const parent = byId.get(line.at(-1)?.parent_checkpoint?.checkpoint_id ?? '')
    if (parent === undefined || line.length > steps.length) return line
    line.push(parent)
  }
}

/**
 * Returns a place in `line` whose value is that of place 0, and whose next place has another value. Returns the last
 * place if no other value was found. Reads the places 1, 3, 7, … and then halves the interval, so that it reads few
 * values of a long line.
 */
export async function placeThatSet(
  line: readonly ThreadStep[],
  read: (step: ThreadStep) => Promise<unknown>,
): Promise<number> {
  const last = line.length - 1
  const valueAt = async (place: number): Promise<unknown> => {
    const step = line[place]
    return step === undefined ? undefined : await read(step)
  }
  const value = await valueAt(0)
  const hasValue = async (place: number): Promise<boolean> =>
    differencesOf(value, await valueAt(place)).length === 0
  let same = 0
  let other = last + 1
  for (let stride = 1; same < last && other > last; stride *= 2) {
    const place = Math.min(same + stride, last)
    if (await hasValue(place)) same = place
    else other = place
  }
  while (other <= last && other - same > 1) {
    const middle = Math.floor((same + other) / 2)
    if (await hasValue(middle)) same = middle
    else other = middle
  }
  return same
}
