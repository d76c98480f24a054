import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import type { ProjectStore } from '../../ingest/project-store.ts'
import type { Database } from './database.ts'
import { DEFAULT_NAME, emptyProject, findProject, insertProject } from './project-rows.ts'

/** Names in memory; more than this are looked up again. */
const MAX_KNOWN = 50_000
/** How long what another process has renamed may go unseen. */
const MAX_AGE_MS = 5_000

/** Project ids by workspace and name, and the ids that exist (none is ever deleted), for the hot path. */
function createMemory(clock: Clock) {
  const ids = new Map<string, Map<string, { id: string; until: number }>>()
  const existing = new Set<string>()
  let size = 0
  const clear = (): void => {
    ids.clear()
    existing.clear()
    size = 0
  }
  return {
    idOf(workspace_id: string, name: string): string | undefined {
      const known = ids.get(workspace_id)?.get(name)
      return known !== undefined && clock.now() < known.until ? known.id : undefined
    },
    /** However long ago it was learnt. */
    lastIdOf: (workspace_id: string, name: string): string | undefined =>
      ids.get(workspace_id)?.get(name)?.id,
    exists: (workspace_id: string, id: string): boolean => existing.has(workspace_id + id),
    remember(workspace_id: string, name: string, id: string): void {
      const isNew = ids.get(workspace_id)?.has(name) !== true
      if (isNew && ++size > MAX_KNOWN) clear()
      const names = ids.get(workspace_id) ?? new Map<string, { id: string; until: number }>()
      ids.set(workspace_id, names.set(name, { id, until: clock.now() + MAX_AGE_MS }))
      existing.add(workspace_id + id)
    },
    rememberId(workspace_id: string, id: string): void {
      if (existing.size > MAX_KNOWN) clear()
      existing.add(workspace_id + id)
    },
    forgetNames(workspace_id: string): void {
      ids.delete(workspace_id)
    },
  }
}

/** Finds or makes the project that a TraceRun names; what has been resolved lately is answered from memory. */
export function createProjectResolver(
  database: Database,
  clock: Clock,
): Pick<ProjectStore, 'resolve' | 'known'> & { forgetNames(workspace_id: string): void } {
  const memory = createMemory(clock)

  const findOrMake = async (workspace_id: string, name: string): Promise<string> => {
    const fresh = emptyProject(workspace_id, newUuid(), name, clock.now())
    let id = (await findProject(database, workspace_id, 'name', fresh.name))?.id
    // Another process may insert it between the two statements: then its row is the one.
    if (id === undefined && (await insertProject(database, fresh))) id = fresh.id
    id ??= (await findProject(database, workspace_id, 'name', fresh.name))?.id
    if (id === undefined)
      throw new AppError('internal', { message: 'A project could neither be found nor made.' })
    return id
  }

  const resolveName = async (workspace_id: string, name: string): Promise<string> => {
    const known = memory.idOf(workspace_id, name)
    if (known !== undefined) return known
    try {
      const id = await findOrMake(workspace_id, name)
      memory.remember(workspace_id, name, id)
      return id
    } catch (error) {
      // Ingest goes on without the database as far as it can.
      const last = memory.lastIdOf(workspace_id, name)
      if (last === undefined) throw error
      return last
    }
  }

  const resolveId = async (workspace_id: string, id: string, name: string | null): Promise<string> => {
    if (memory.exists(workspace_id, id)) return id
    if ((await findProject(database, workspace_id, 'id', id)) === undefined) {
      const named = emptyProject(workspace_id, id, name ?? id, clock.now())
      if (!(await insertProject(database, named))) await insertProject(database, { ...named, name: id })
    }
    memory.rememberId(workspace_id, id)
    return id
  }

  return {
    async resolve(workspace_id, { session_name, session_id }) {
      if (session_id !== null) return await resolveId(workspace_id, session_id, session_name)
      return await resolveName(workspace_id, session_name ?? DEFAULT_NAME)
    },
    known: (workspace_id, name) => memory.idOf(workspace_id, name),
    forgetNames: memory.forgetNames,
  }
}
