import { noThread } from '../create-runs.ts'
import type { Thread } from '../model.ts'
import type { Call } from '../runs.ts'
import type { Threads } from '../threads/threads.ts'
import { type AccessEvent, type Ask, passesRuling } from './rulings.ts'
import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../schema/json.ts'

/** The thread, if the user may see it, and the event's value after the handler's changes. @throws AppError not_found */
type Find = (
  call: Call,
  thread_id: string,
  event: AccessEvent,
  value?: JsonObject,
) => Promise<{ thread: Thread; value: JsonObject }>

/** Threads with the permissions of one user. */
export function threadsFor(threads: Threads, ask: Ask): Threads {
  const find: Find = async (call, thread_id, event, value = {}) => {
    const ruling = await ask(event, { thread_id, ...value })
    const thread = await threads.get(call, thread_id)
    if (!passesRuling(ruling, thread.metadata)) throw noThread(thread_id)
    return { thread, value: ruling.value }
  }
  return {
    ...oneThread(threads, ask, find),
    ...manyThreads(threads, ask, find),
    ...threadState(threads, find),
  }
}

type One = 'create' | 'get' | 'update' | 'remove' | 'copy' | 'storage'

function oneThread(threads: Threads, ask: Ask, find: Find): Pick<Threads, One> {
  return {
    async create(call, request) {
      const { thread_id, metadata = {}, if_exists } = request
      const asked = {
        metadata,
        ...(thread_id !== undefined && { thread_id }),
        ...(if_exists && { if_exists }),
      }
      const ruling = await ask('threads:create', asked)
      const thread = await threads.create(call, { ...request, metadata: ruling.value.metadata })
      // An existing thread with this id may belong to another user.
      if (if_exists === 'do_nothing' && !passesRuling(ruling, thread.metadata))
        throw new AppError('conflict', { message: 'Thread already exists' })
      return thread
    },
    async get(call, thread_id) {
      return (await find(call, thread_id, 'threads:read')).thread
    },
    async storage(call, thread_id) {
      await find(call, thread_id, 'threads:read')
      return threads.storage(call, thread_id)
    },
    async update(call, thread_id, change) {
      const { metadata } = change
      const { value } = await find(
        call,
        thread_id,
        'threads:update',
        metadata === undefined ? {} : { metadata },
      )
      return threads.update(call, thread_id, { ...change, ...metadataOf(value) })
    },
    async remove(call, thread_id) {
      await find(call, thread_id, 'threads:delete')
      await threads.remove(call, thread_id)
    },
    async copy(call, thread_id) {
      const { thread } = await find(call, thread_id, 'threads:read')
      const { value } = await ask('threads:create', { metadata: thread.metadata })
      const copy = await threads.copy(call, thread_id)
      return threads.update(call, copy.thread_id, {
        metadata: { ...metadataOf(value).metadata, thread_id: copy.thread_id },
      })
    },
  }
}

type Many = 'search' | 'prune'

function manyThreads(threads: Threads, ask: Ask, find: Find): Pick<Threads, Many> {
  return {
    async search(call, search) {
      const { visible } = await ask('threads:search', searchValue(search))
      return threads.search(call, { ...search, visible })
    },
    async prune(call, thread_ids, strategy) {
      const seen: string[] = []
      for (const thread_id of thread_ids) {
        const found = await find(call, thread_id, 'threads:delete').catch(unlessGone)
        if (found !== undefined) seen.push(thread_id)
      }
      return threads.prune(call, seen, strategy)
    },
  }
}

type State = 'state' | 'updateState' | 'history'

function threadState(threads: Threads, find: Find): Pick<Threads, State> {
  return {
    async state(call, thread_id, query) {
      await find(call, thread_id, 'threads:read')
      return threads.state(call, thread_id, query)
    },
    async updateState(call, thread_id, update) {
      await find(call, thread_id, 'threads:update')
      return threads.updateState(call, thread_id, update)
    },
    async history(call, thread_id, query) {
      await find(call, thread_id, 'threads:read')
      return threads.history(call, thread_id, query)
    },
  }
}

/** The metadata after the handler's changes. */
function metadataOf({ metadata }: JsonObject): { metadata?: JsonObject } {
  return metadata === undefined || metadata === null ? {} : { metadata: metadata as JsonObject }
}

type Searched = Partial<Pick<Parameters<Threads['search']>[1], 'ids' | 'metadata' | 'values' | 'status'>>

/** The search as the `value` of `threads:search` handlers. */
export function searchValue({ ids, metadata, values, status }: Searched): JsonObject {
  return {
    metadata: metadata ?? {},
    ...(ids && { ids: [...ids] }),
    ...(values && { values }),
    ...(status && { status }),
  }
}

/**
 * Handler for rejections: returns undefined if the record does not exist or is not visible; throws other errors again.
 */
export function unlessGone(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'not_found') return undefined
  throw error
}
