import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { UsageNames } from './dimensions.ts'
import { rangeOf } from './granular-usage.ts'
import { bucketOf, strideMillis } from './stride.ts'

/** Groups that a list excludes, so that it shows the records of all other groups. */
export interface ExcludedGroups {
  project_id: readonly string[]
  /** NIL_UUID for records without a user. */
  user_id: readonly string[]
  api_key_id: readonly string[]
}

/** The selection of the records behind one number of a report. Times are epoch milliseconds, with fractions. */
export interface UsageSelection {
  workspace_ids: readonly string[]
  start: number
  end: number
  /** Only this bucket of the report, by its start. */
  bucket: number | undefined
  project_id: string | undefined
  /** NIL_UUID for records without a user. */
  user_id: string | undefined
  /** Short key, or the id of a key without one. */
  api_key: string | undefined
  /** Keys are named as in `api_key`. */
  excluded: Omit<ExcludedGroups, 'api_key_id'> & { api_key: readonly string[] }
}

/** The part of the range that is in the bucket. @throws AppError invalid_request when the report has no such bucket */
export function boundsOf({ start, end, bucket }: UsageSelection): { start: number; end: number } {
  const range = rangeOf(start, end)
  if (bucket === undefined) return { start: range.start, end: range.end }
  const size = strideMillis(range.stride)
  const last = Math.max(range.start, range.end - 1)
  if (bucketOf(bucket, range.origin, range.stride) !== bucket || bucket < range.origin || bucket > last) {
    const message =
      'time_bucket must be the start of a bucket of the report with this start_time and end_time'
    throw new AppError('invalid_request', { message })
  }
  return { start: Math.max(range.start, bucket), end: Math.min(range.end, bucket + size) }
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** The id of a key that is named by its short key or its id; undefined for a name that is neither. */
export function keyIdOf(api_key: string, { short_keys }: UsageNames): string | undefined {
  const id = [...short_keys].find(([, short_key]) => short_key === api_key)?.[0] ?? api_key
  return UUID.test(id) ? id : undefined
}

/** The excluded groups, with the ids of keys. A name that belongs to no key matches no records. */
export function excludedOf({ excluded }: UsageSelection, names: UsageNames): ExcludedGroups {
  const { project_id, user_id, api_key } = excluded
  const api_key_id = api_key.flatMap((name) => keyIdOf(name, names) ?? [])
  return { project_id, user_id, api_key_id }
}

/** The workspace and project in which a record counts, with the user and key that sent it; NIL_UUID for none. */
interface Counted {
  workspace_id: string
  project_id: string
  user_id: string
  api_key_id: string
}

/** Adds the names to the workspace, project, user and key of a record. */
export function namedPlace({ workspace_id, project_id, user_id, api_key_id }: Counted, names: UsageNames) {
  return {
    workspace_id,
    workspace_name: names.workspaces.get(workspace_id) ?? workspace_id,
    project_id,
    project_name: names.projects.get(`${workspace_id}/${project_id}`) ?? project_id,
    user_id: user_id === NIL_UUID ? null : user_id,
    user_email: names.emails.get(user_id) ?? null,
    api_key_short_key: names.short_keys.get(api_key_id) ?? api_key_id,
  }
}
