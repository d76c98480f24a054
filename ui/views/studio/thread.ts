import { useEffect, useMemo } from 'react'
import { useDeploymentRead } from '../../data/deployments/contents.ts'
import { branchesOf } from '../../data/studio/branches.ts'
import { useHistory } from '../../data/studio/history.ts'
import type { FullState, ThreadStep } from '../../data/studio/step.ts'

/**
 * Pause between reads for a stream that has broken; otherwise each update and each end of a run causes a read
 * (session.ts).
 */
const BUSY_EVERY_MS = 5000
/** Maximum number of checkpoints that are read to find the one of the address. */
const MOST_SEARCHED = 2000

/** The selected checkpoint of a thread and the one to compare: ids, '' for the newest one and for its parent. */
export interface ShownCheckpoints {
  checkpoint: string
  against: string
}

/**
 * A thread as it is stored: its checkpoints as a tree, the selected one with its values, and `before`, with which it is
 * compared. While the checkpoint of the address is not found (`isMissing`), the newest one is selected, and earlier ones
 * are read.
 */
export function useThread(
  name: string,
  thread: string | undefined,
  { checkpoint, against }: ShownCheckpoints,
  isBusy: boolean,
) {
  const history = useHistory(name, thread, isBusy ? BUSY_EVERY_MS : false)
  const { data } = history.newest
  const rows = useMemo(() => branchesOf(data?.steps ?? []), [data])
  const find = (id: string | undefined): ThreadStep | undefined =>
    rows.find(({ step }) => step.checkpoint.checkpoint_id === id)?.step
  const head = rows[0]?.step
  const named = find(checkpoint)
  const selected = named ?? head
  const isMissing = checkpoint !== '' && head !== undefined && named === undefined
  const maySearch = isMissing && rows.length < MOST_SEARCHED && !history.hasFailed
  const earlier = maySearch ? history.more : undefined
  useEffect(() => {
    earlier?.()
  }, [earlier])
  const parent = find(selected?.parent_checkpoint?.checkpoint_id)
  const other = find(against)
  const compared = other === undefined || other === selected ? parent : other
  const path = (id: string | undefined): string => `/threads/${thread ?? ''}/state/${id ?? ''}`
  const selectedId = selected?.checkpoint.checkpoint_id
  const state = useDeploymentRead<FullState>(name, path(selectedId), { isOn: selectedId !== undefined })
  const comparedId = compared?.checkpoint.checkpoint_id ?? selected?.parent_checkpoint?.checkpoint_id
  const before = useDeploymentRead<FullState>(name, path(comparedId), { isOn: comparedId !== undefined })
  return { history, rows, head, selected, isMissing, parent, compared, state, before }
}

/** The result of `useThread`. */
export type ShownThread = ReturnType<typeof useThread>

/** A short name of a checkpoint: its step and its source. The input of a new thread is before its first step. */
export function stepName({ metadata }: ThreadStep): string {
  const { step, source } = metadata ?? {}
  if (step === -1) return 'Input'
  return `Step ${step ?? '?'}${source === 'update' ? ', edited' : source === 'fork' ? ', copied' : ''}`
}
