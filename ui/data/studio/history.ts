import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useDeploymentApi } from '../deployments/deployment-api.ts'
import { idOf, type KnownHistory, PAGE, withNewestSteps } from './known-history.ts'
import type { Checkpoint, FullState, ThreadStep } from './step.ts'
import { type FoundOrigin, placeThatSet } from './value-origin.ts'

const FIELDS = ['checkpoint', 'parent_checkpoint', 'metadata', 'created_at', 'next', 'tasks', 'values_bytes']

export function historyKey(name: string, thread: string | undefined): readonly unknown[] {
  return ['deployment', name, 'history', thread]
}

/**
 * The checkpoints of a thread; the newest are read again every `every` milliseconds. `more` reads earlier ones;
 * `hasFailed` is true if that failed.
 */
export function useHistory(name: string, thread: string | undefined, every: number | false) {
  const queries = useQueryClient()
  const deployments = useDeploymentApi()
  const queryKey = historyKey(name, thread)
  const read = async (before: string, limit: number, signal?: AbortSignal): Promise<ThreadStep[]> => {
    const body = { limit, select: FIELDS, ...(before !== '' && { before }) }
    const sent = { body, ...(signal !== undefined && { signal }) }
    return (await deployments.call<ThreadStep[]>(name, `/threads/${thread ?? ''}/history`, sent)).data
  }
  const newest = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const found = await read('', PAGE, signal)
      return withNewestSteps(queries.getQueryData<KnownHistory>(queryKey), found)
    },
    enabled: thread !== undefined,
    refetchInterval: every,
    // Steps that have not changed are already the same objects.
    structuralSharing: false,
  })
  const { data } = newest
  const last = data?.steps.at(-1)
  const { isPending, isError, mutate } = useMutation({
    mutationFn: async (before: string) => {
      const found = await read(before, PAGE)
      queries.setQueryData<KnownHistory>(queryKey, (known) => {
        const end = known?.steps.at(-1)
        if (known === undefined || end === undefined || idOf(end) !== before) return known
        return { steps: [...known.steps, ...found], isMore: found.length === PAGE }
      })
    },
  })
  const before = data?.isMore === true && !isPending ? last && idOf(last) : undefined
  const readMore = useCallback(() => before !== undefined && mutate(before), [before, mutate])
  return { newest, more: before === undefined ? undefined : readMore, hasFailed: isError }
}

/** A change of a thread by a user; the new branch begins at `checkpoint`. */
export type ThreadChange =
  | { kind: 'edit'; values: unknown; as_node: string; checkpoint: Checkpoint | undefined }
  | { kind: 'copy' }
  | { kind: 'cancel'; run_id: string; action: 'interrupt' | 'rollback' }

/** Changes a thread; returns the id of the thread or checkpoint that it made. */
export function useThreadChange(name: string, thread: string) {
  const queries = useQueryClient()
  const deployments = useDeploymentApi()
  return useMutation({
    async mutationFn(change: ThreadChange): Promise<string> {
      if (change.kind === 'cancel') {
        const path = `/threads/${thread}/runs/${change.run_id}/cancel?action=${change.action}&wait=true`
        await deployments.call(name, path, { method: 'POST' })
        return ''
      }
      if (change.kind === 'copy') {
        const path = `/threads/${thread}/copy`
        return (await deployments.call<{ thread_id: string }>(name, path, { method: 'POST' })).data.thread_id
      }
      const { values, as_node, checkpoint } = change
      const body = {
        values,
        ...(as_node !== '' && { as_node }),
        ...(checkpoint && { checkpoint_id: checkpoint.checkpoint_id }),
      }
      const path = `/threads/${thread}/state`
      const { data } = await deployments.call<{ checkpoint: Checkpoint }>(name, path, { body })
      return data.checkpoint.checkpoint_id
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['deployment', name] }),
  })
}

/** Finds the checkpoint that gave a field its value. Reads only this field of the checkpoints that it compares. */
export function useValueOrigin(name: string, thread: string) {
  const deployments = useDeploymentApi()
  return useMutation({
    async mutationFn({
      line,
      field,
    }: {
      line: readonly ThreadStep[]
      field: string
    }): Promise<FoundOrigin | undefined> {
      // A dot in `select` selects a nested field, so a field with a dot in its name cannot be selected alone.
      const select = [field.includes('.') ? 'values' : `values.${field}`]
      const read = async ({ checkpoint }: ThreadStep): Promise<unknown> => {
        const body = { limit: 1, checkpoint, select }
        const path = `/threads/${thread}/history`
        const { data } = await deployments.call<Partial<FullState>[]>(name, path, { body })
        return (data[0]?.values as Record<string, unknown> | null | undefined)?.[field]
      }
      const place = await placeThatSet(line, read)
      const step = line[place]
      if (step === undefined) return undefined
      if (place < line.length - 1) return { field, step, kind: 'set' }
      return { field, step, kind: step.parent_checkpoint === null ? 'first' : 'unread' }
    },
  })
}
