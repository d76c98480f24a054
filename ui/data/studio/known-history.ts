import type { ThreadStep } from './step.ts'

/** Maximum number of checkpoints that one request reads. */
export const PAGE = 100

/** Checkpoints of a thread, newest first, without their values. */
export interface KnownHistory {
  steps: readonly ThreadStep[]
  /** Whether the thread has earlier checkpoints. */
  isMore: boolean
}

export const idOf = ({ checkpoint }: ThreadStep): string => checkpoint.checkpoint_id

/**
 * Returns the steps. Unchanged steps are the same objects as before, so that the components that show them are not
 * drawn again.
 */
function withKnown(known: readonly ThreadStep[], newest: readonly ThreadStep[]): readonly ThreadStep[] {
  const before = new Map(known.map((step) => [idOf(step), step]))
  const steps = newest.map((step) => {
    const same = before.get(idOf(step))
    return same !== undefined && JSON.stringify(same) === JSON.stringify(step) ? same : step
  })
  return steps.length === known.length && steps.every((step, place) => step === known[place]) ? known : steps
}

/**
 * Returns the known checkpoints after the newest ones were read again. Earlier ones are dropped when there is a gap
 * between them and the newest, or when a checkpoint has vanished: a rollback may have deleted earlier ones too.
 */
export function withNewestSteps(
  known: KnownHistory | undefined,
  newest: readonly ThreadStep[],
): KnownHistory {
  const last = newest.at(-1)
  const isMore = newest.length === PAGE
  if (known === undefined) return { steps: newest, isMore }
  const at = isMore ? known.steps.findIndex((step) => idOf(step) === (last && idOf(last))) : -1
  const head = isMore ? known.steps.slice(0, at + 1) : known.steps
  const steps = withKnown(head, newest)
  const present = new Set(newest.map(idOf))
  const isWhole = !isMore || at === -1 || head.some((step) => !present.has(idOf(step)))
  if (isWhole) return steps === known.steps && isMore === known.isMore ? known : { steps, isMore }
  if (steps === head) return known
  const earlier = known.steps.slice(at + 1)
  return { steps: [...steps, ...earlier], isMore: earlier.length === 0 || known.isMore }
}
