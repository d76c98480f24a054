import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Cron } from '../crons/store.ts'
import type { CronRequest, Crons } from '../crons/crons.ts'
import type { Call } from '../runs.ts'
import type { Threads } from '../threads/threads.ts'
import { type AccessEvent, type Ask, type Ruling, passesRuling } from './rulings.ts'

export interface CronsForDeps {
  crons: Crons
  /** The threads that the user may see. */
  threads: Pick<Threads, 'get'>
  /** @throws AppError not_found for an assistant that the user must not run */
  assertAssistant(call: Call, id_or_graph: string): Promise<void>
}

/**
 * Crons with the permissions of one user. When a cron creates a run, the run is authorised again in the name of the
 * user.
 */
export function cronsFor({ crons, threads, assertAssistant }: CronsForDeps, ask: Ask): Crons {
  const find = async (
    call: Call,
    cron_id: string,
    event: AccessEvent,
    value: JsonObject = {},
  ): Promise<Ruling> => {
    const ruling = await ask(event, { cron_id, ...value })
    const cron = await crons.get(call, cron_id)
    if (!passesRuling(ruling, cron.metadata)) {
      throw new AppError('not_found', { message: `Cron with ID ${cron_id} not found` })
    }
    return ruling
  }
  return {
    ...crons,
    async create(call, thread_id, request) {
      await assertAssistant(call, request.payload.assistant_id)
      if (thread_id !== null) await threads.get(call, thread_id)
      const { value } = await ask('crons:create', createValue(call, thread_id, request))
      return crons.create(call, thread_id, { ...request, metadata: value.metadata })
    },
    async get(call, cron_id): Promise<Cron> {
      await find(call, cron_id, 'crons:read')
      return crons.get(call, cron_id)
    },
    async update(call, cron_id, change) {
      const { schedule, payload, metadata = {} } = change
      if (payload?.assistant_id !== undefined) await assertAssistant(call, payload.assistant_id)
      const { value } = await find(call, cron_id, 'crons:update', {
        metadata,
        ...(schedule !== undefined && { schedule }),
        ...(payload !== undefined && { payload: payload as JsonObject }),
      })
      return crons.update(call, cron_id, { ...change, metadata: value['metadata'] as JsonObject })
    },
    async remove(call, cron_id) {
      await find(call, cron_id, 'crons:delete')
      await crons.remove(call, cron_id)
    },
    async search(call, search) {
      const { assistant_id, thread_id, limit, offset } = search
      const asked = { limit, offset, ...(assistant_id && { assistant_id }), ...(thread_id && { thread_id }) }
      const { visible } = await ask('crons:search', asked)
      return crons.search(call, { ...search, visible })
    },
  }
}

function createValue({ caller }: Call, thread_id: string | null, request: CronRequest) {
  const { schedule, payload, metadata = {}, end_time } = request
  return {
    schedule,
    payload: payload as unknown as JsonObject,
    metadata,
    user_id: caller.user?.identity ?? null,
    ...(thread_id !== null && { thread_id }),
    ...(typeof end_time === 'number' && { end_time: new Date(end_time).toISOString() }),
  }
}
