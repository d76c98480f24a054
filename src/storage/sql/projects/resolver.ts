import { RecentMap } from '../../../base/recent-map.ts'
import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { newUuid } from '../../../base/ids.ts'
import type { Project, ProjectStore } from '../../../ingest/project-store.ts'
import type { Database } from '../driver/database.ts'
import { DEFAULT_NAME, findProject, insertProject } from './rows.ts'

/** Maximum number of cached names, and of cached ids. */
const MAX_KNOWN = 50_000
/** Maximum delay until a name changed by another process is used. */
const MAX_AGE_MS = 5_000

/** Cache of project ids by workspace and name, and of existing ids. Ingest reads it for every TraceRun. */
function createMemory(clock: Clock) {
  // The keys begin with the id of the workspace; all of these ids have the same length.
  const ids = new RecentMap<string, { id: string; until: number }>(MAX_KNOWN)
  const existing = new RecentMap<string, number>(MAX_KNOWN)
  let forgotten = 0
  return {
    idOf(workspace_id: string, name: string): string | undefined {
      const known = ids.get(workspace_id + name)
      return known !== undefined && clock.steady() < known.until ? known.id : undefined
    },
    /** How often projects were forgotten. What was read before is then not remembered. */
    forgotten: (): number => forgotten,
    /** The cached id, however old it is. */
    lastIdOf: (workspace_id: string, name: string): string | undefined => ids.get(workspace_id + name)?.id,
    exists: (workspace_id: string, id: string): boolean =>
      clock.steady() < (existing.get(workspace_id + id) ?? 0),
    /** Whether the id is cached, however old the entry is. */
    hasExisted: (workspace_id: string, id: string): boolean => existing.has(workspace_id + id),
    remember(workspace_id: string, name: string, id: string): void {
      ids.set(workspace_id + name, { id, until: clock.steady() + MAX_AGE_MS })
      existing.set(workspace_id + id, clock.steady() + MAX_AGE_MS)
    },
    rememberId(workspace_id: string, id: string): void {
      existing.set(workspace_id + id, clock.steady() + MAX_AGE_MS)
    },
    forgetProjects(workspace_id: string): void {
      forgotten++
      for (const cache of [ids, existing])
        for (const key of cache.keys()) if (key.startsWith(workspace_id)) cache.delete(key)
    },
  }
}

/** Makes a project that has only a name, without storing it. */
export type FreshProject = (named: Pick<Project, 'workspace_id' | 'id' | 'name'>) => Promise<Project>

/** Finds or creates the project that a TraceRun names; recent results are cached. */
export function createProjectResolver(
  database: Database,
  clock: Clock,
  freshProject: FreshProject,
): Pick<ProjectStore, 'resolve' | 'known'> & { forgetProjects(workspace_id: string): void } {
  const memory = createMemory(clock)

  const findOrMake = async (workspace_id: string, name: string): Promise<string> => {
    const fresh = await freshProject({ workspace_id, id: newUuid(), name })
    let id = (await findProject(database, workspace_id, 'name', fresh.name))?.id
    // If another process has inserted the project after the first read, the insert has no effect, and the row of that
    // process is read.
    if (id === undefined && (await insertProject(database, fresh))) id = fresh.id
    id ??= (await findProject(database, workspace_id, 'name', fresh.name))?.id
    if (id === undefined)
      throw new AppError('internal', { message: 'A project could neither be found nor made.' })
    return id
  }

  const resolveName = async (workspace_id: string, name: string): Promise<string> => {
    const known = memory.idOf(workspace_id, name)
    if (known !== undefined) return known
    const before = memory.forgotten()
    try {
      const id = await findOrMake(workspace_id, name)
      // A project that was deleted meanwhile must not get the TraceRuns of later requests.
      if (memory.forgotten() === before) memory.remember(workspace_id, name, id)
      return id
    } catch (error) {
      // If the database cannot be reached, ingest continues with cached names, however old they are.
      const last = memory.lastIdOf(workspace_id, name)
      if (last === undefined) throw error
      return last
    }
  }

  const findOrMakeId = async (workspace_id: string, id: string, name: string | null): Promise<void> => {
    if ((await findProject(database, workspace_id, 'id', id)) !== undefined) return
    const named = await freshProject({ workspace_id, id, name: name ?? id })
    if (!(await insertProject(database, named))) await insertProject(database, { ...named, name: id })
  }

  const resolveId = async (workspace_id: string, id: string, name: string | null): Promise<string> => {
    if (memory.exists(workspace_id, id)) return id
    const before = memory.forgotten()
    try {
      await findOrMakeId(workspace_id, id, name)
      if (memory.forgotten() === before) memory.rememberId(workspace_id, id)
    } catch (error) {
      if (!memory.hasExisted(workspace_id, id)) throw error
    }
    return id
  }

  return {
    async resolve(workspace_id, { session_name, session_id }) {
      if (session_id !== null) return await resolveId(workspace_id, session_id, session_name)
      return await resolveName(workspace_id, session_name ?? DEFAULT_NAME)
    },
    known: (workspace_id, name) => memory.idOf(workspace_id, name),
    forgetProjects: memory.forgetProjects,
  }
}
