import { AppError } from './errors.ts'

/** Limits of one workspace, over all its deployments. */
export interface Quotas {
  threads: number
  crons: number
  assistants: number
  /** Bytes of the items of the store: their values as JSON. */
  store_bytes: number
}

export type Quota = keyof Quotas

export const QUOTAS = ['threads', 'crons', 'assistants', 'store_bytes'] as const satisfies readonly Quota[]

/** No limits, for stores that are only read, and for tests. */
export const UNLIMITED: Quotas = {
  threads: Number.POSITIVE_INFINITY,
  crons: Number.POSITIVE_INFINITY,
  assistants: Number.POSITIVE_INFINITY,
  store_bytes: Number.POSITIVE_INFINITY,
}

const SETTINGS: Record<Quota, string> = {
  threads: 'WORKSPACE_MAX_THREADS',
  crons: 'WORKSPACE_MAX_CRONS',
  assistants: 'WORKSPACE_MAX_ASSISTANTS',
  store_bytes: 'WORKSPACE_MAX_STORE_BYTES',
}

/** The error for an operation that would exceed `limit`. */
export function quotaError(quota: Quota, limit: number): AppError {
  const setting = SETTINGS[quota]
  if (quota === 'store_bytes') {
    const message = `The items of the workspace's store take ${limit} bytes at the most (${setting}): delete some.`
    return new AppError('store_full', { message })
  }
  const message = `The workspace may have ${limit} ${quota} (${setting}): delete some.`
  return new AppError('quota_reached', { message })
}
