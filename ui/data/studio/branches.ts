import type { ThreadStep } from './step.ts'

export interface TreeStep {
  step: ThreadStep
  /** Number of the branch, from 0. */
  lane: number
  /** The nodes that ran between the parent checkpoint and this one; several if they ran at the same time. */
  ran: string[]
  /** True for the first checkpoint of a branch that is not the first. */
  isFork: boolean
  /** True for the first checkpoint of an attempt of a run. */
  isRunStart: boolean
}

/** The attempt of a run that made a checkpoint. */
function attemptOf(step: ThreadStep | undefined): string {
  const { run_id = '', run_attempt = 1 } = step?.metadata ?? {}
  return run_id === '' ? '' : `${run_id} ${run_attempt}`
}

/**
 * The checkpoints as a tree, newest first. The oldest child of a checkpoint stays in its lane; every other child begins
 * a new lane.
 */
export function branchesOf(steps: readonly ThreadStep[]): TreeStep[] {
  const byId = new Map(steps.map((step) => [step.checkpoint.checkpoint_id, step]))
  const lanes = new Map<string, number>()
  const followed = new Set<string>()
  let count = 0
  const rows = steps.toReversed().map((step): TreeStep => {
    const parentId = step.parent_checkpoint?.checkpoint_id ?? ''
    const parent = byId.get(parentId)
    const isFirst = !followed.has(parentId)
    const inherited = lanes.get(parentId)
    const isFork = parent !== undefined && !isFirst
    const lane = inherited !== undefined && isFirst ? inherited : isFork ? ++count : 0
    followed.add(parentId)
    lanes.set(step.checkpoint.checkpoint_id, lane)
    const attempt = attemptOf(step)
    const isRunStart = attempt !== '' && attempt !== attemptOf(parent)
    return { step, lane, isFork, isRunStart, ran: ranBetween(parent, step) }
  })
  return rows.toReversed()
}

function ranBetween(parent: ThreadStep | undefined, { metadata }: ThreadStep): string[] {
  if (metadata?.source !== 'loop' || parent === undefined) return []
  return parent.tasks.map(({ name }) => name).filter((name) => name !== '__start__')
}
