import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../base/errors.ts'
import { isEventId } from '../../../events/id.ts'
import type { StreamStart } from '../../../runs/streams/streams.ts'
import { textParameter } from '../../api/parameters.ts'

/** Query of streams that can be resumed. */
export const START_QUERY = {
  last_event_id: textParameter('For clients that cannot send the header Last-Event-ID, which comes first.'),
}

/** Values of Last-Event-ID that stand for the beginning of the kept events. */
const BEGINNING = ['-', '-1']

/**
 * The position from which to resume, given by the header or the query. @throws AppError invalid_request for an invalid
 * id
 */
export function streamStart(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { last_event_id }: { last_event_id: string | undefined },
): StreamStart {
  const asked = String(headers['last-event-id'] ?? '').trim() || last_event_id || undefined
  if (asked === undefined) return 'now'
  if (BEGINNING.includes(asked)) return 'start'
  if (isEventId(asked)) return { after: asked }
  const message = `Last-Event-ID must be the id of an event, or "-" for the beginning; it is "${asked.slice(0, 100)}".`
  throw new AppError('invalid_request', { message })
}
