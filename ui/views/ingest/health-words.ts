import type { IngestHealthRead } from '../../api/platform.gen.ts'
import { bytesText, countText, durationText } from '../../parts/format/numbers.ts'
import { microsBetween } from '../../parts/format/times.ts'

/** The state of ingest in words: how bad it is, what it means, and what to do. */
export interface HealthWords {
  level: 'ok' | 'warn' | 'error'
  title: string
  /** The consequence of the state for senders. */
  means: string
  /** The advice for users; undefined when nothing needs to be done. */
  mend?: string
}

/** Returns how long the oldest waiting data has waited: `12 s`; undefined when nothing waits. */
export function waitText({ oldest_waiting_at }: IngestHealthRead, now: Date): string | undefined {
  const micros = microsBetween(oldest_waiting_at, now.toISOString())
  return micros === undefined ? undefined : durationText(micros)
}

function roomText({ log }: IngestHealthRead): string {
  return `${bytesText(Math.max(0, log.max_bytes - log.bytes))} more`
}

export function healthWords(health: IngestHealthRead, now: Date): HealthWords {
  const { status, waiting, store, disk } = health
  const waits = `${countText(waiting)} ${waiting === 1 ? 'record waits' : 'records wait'}`
  if (status === 'disk_full' || status === 'disk_unwritable')
    return {
      level: 'error',
      title: status === 'disk_full' ? 'The disk is full' : 'The disk cannot be written',
      means: `${disk.problem?.detail ?? 'Nothing is accepted.'} Senders are answered 503 and send again later.`,
      mend:
        status === 'disk_full'
          ? `Free space on the disk of DATA_DIR: ${bytesText(disk.free_bytes)} are free, at least ${bytesText(disk.min_free_bytes)} are needed. The server goes on by itself.`
          : 'Check the mount and the permissions of DATA_DIR. The server goes on by itself.',
    }
  if (status === 'store_unavailable')
    return {
      level: 'error',
      title: 'The store does not answer',
      means: `Nothing is lost: new data is kept in the ingest log, which takes ${roomText(health)}. ${waits} for the store.`,
      mend: `Look at ClickHouse${store.last_error === null ? '' : `; its last error: ${store.last_error}`}`,
    }
  if (status === 'behind')
    return {
      level: 'warn',
      title: 'Storing is behind',
      means: `${waits}, the oldest for ${waitText(health, now) ?? 'some seconds'}. They are safe in the ingest log, which takes ${roomText(health)}.`,
      mend: 'It catches up when less comes in. If it lasts, give the server more cores or ClickHouse a machine of its own.',
    }
  return {
    level: 'ok',
    title: 'Records are stored as they arrive',
    means: 'Nothing has waited for the store longer than 5 seconds.',
  }
}

/** Advice for senders, by the code of the refusal. */
const MENDS: Readonly<Record<string, string>> = {
  invalid_run_id: 'Use a UUID as id of every run.',
  invalid_trace_id: 'Send the id of the root as trace_id, in every run of the trace.',
  invalid_parent_run_id: 'Send the id of a run of the same trace, or leave it out in a root.',
  invalid_dotted_order: 'Take dotted_order from the SDK, or leave it out together with trace_id.',
  invalid_timestamp: 'Send times as ISO 8601 with a zone, or as milliseconds since 1970.',
  missing_field: 'Send the field that the response names.',
  invalid_field: 'Send the field with the type that the response names.',
  incomplete_run: 'The connection broke while the run was sent; SDKs send it again.',
  run_too_large: 'Send large data as attachments.',
  too_many_parts: 'Send smaller batches.',
  unknown_part: 'Update the SDK, or send parts named post, patch, attachment or feedback.',
  trace_deleted: 'Nothing: the trace was deleted on purpose.',
  usage_limit_reached: 'Raise the limit of the workspace, or wait for the next month.',
}

/** Returns the advice for senders about a code of a refusal; undefined when there is none for this code. */
export function mendOf(code: string): string | undefined {
  return MENDS[code]
}
