import { withoutRuntimeKeys } from '../../schema/config-keys.ts'
import { isObject } from '../../schema/json.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { Cron } from './store.ts'

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

/** A cron as the deployment API shows it. */
export function cronJson(cron: Cron): SchemaTypes['cron'] {
  const { caller, payload, ...shown } = cron
  const { config } = payload
  return {
    ...shown,
    payload: isObject(config) ? { ...payload, config: withoutRuntimeKeys(config) } : payload,
    user_id: caller.user_id,
    end_time: isoTime(cron.end_time),
    next_run_date: isoTime(cron.next_run_date),
    created_at: new Date(cron.created_at).toISOString(),
    updated_at: new Date(cron.updated_at).toISOString(),
  }
}
