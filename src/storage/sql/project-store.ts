import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import type { Project, ProjectFields, ProjectQuery, ProjectStore } from '../../ingest/project-store.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Database, SqlSession, SqlValue } from './database.ts'

interface ProjectRow extends Omit<Project, 'extra'> {
  extra: string
}

const COLUMNS = 'workspace_id, id, name, description, extra, reference_dataset_id, start_time, end_time'
const DEFAULT_NAME = 'default'
/** Names in memory; more than this are looked up again. */
const MAX_KNOWN = 50_000

function toProject(row: ProjectRow): Project {
  return { ...row, extra: JSON.parse(row.extra) as JsonObject }
}

async function findOne(
  session: SqlSession,
  workspace_id: string,
  column: 'id' | 'name',
  value: string,
): Promise<Project | undefined> {
  const sql = `SELECT ${COLUMNS} FROM projects WHERE workspace_id = ? AND ${column} = ?`
  const [row] = await session.query<ProjectRow>(sql, [workspace_id, value])
  return row === undefined ? undefined : toProject(row)
}

/** Inserts the project unless its id or its name is taken; true if it was inserted. */
async function insert(session: SqlSession, project: Project): Promise<boolean> {
  const rows = await session.query(
    `INSERT INTO projects (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
    [
      project.workspace_id,
      project.id,
      project.name,
      project.description,
      JSON.stringify(project.extra),
      project.reference_dataset_id,
      project.start_time,
      project.end_time,
    ],
  )
  return rows.length > 0
}

/** The fields that were said, without those left open. */
function said(fields: ProjectFields): Partial<Project> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  )
}

async function change(session: SqlSession, before: Project, fields: ProjectFields): Promise<Project> {
  const after: Project = { ...before, ...said(fields), id: before.id, workspace_id: before.workspace_id }
  after.name = after.name.toWellFormed()
  const namesake = await findOne(session, before.workspace_id, 'name', after.name)
  if (namesake !== undefined && namesake.id !== before.id) throw nameTaken()
  await session.query(
    `UPDATE projects SET name = ?, description = ?, extra = ?, reference_dataset_id = ?, start_time = ?, end_time = ?
     WHERE workspace_id = ? AND id = ?`,
    [
      after.name,
      after.description,
      JSON.stringify(after.extra),
      after.reference_dataset_id,
      after.start_time,
      after.end_time,
      after.workspace_id,
      after.id,
    ],
  )
  return after
}

function nameTaken(): AppError {
  return new AppError('conflict', { message: 'Session already exists.' })
}

function listStatement(workspace_id: string, query: ProjectQuery): { sql: string; params: SqlValue[] } {
  const conditions = ['workspace_id = ?']
  const params: SqlValue[] = [workspace_id]
  if (query.ids !== undefined) {
    conditions.push(`id IN (${query.ids.map(() => '?').join(', ')})`)
    params.push(...query.ids)
  }
  if (query.name !== undefined) {
    conditions.push('name = ?')
    params.push(query.name)
  }
  if (query.name_contains !== undefined) {
    conditions.push(`lower(name) LIKE lower(?) ESCAPE '!'`)
    params.push(`%${query.name_contains.replace(/[!%_]/g, '!$&')}%`)
  }
  const sql = `SELECT ${COLUMNS} FROM projects WHERE ${conditions.join(' AND ')}
    ORDER BY start_time DESC, id LIMIT ? OFFSET ?`
  return { sql, params: [...params, query.limit, query.offset] }
}

function emptyProject(workspace_id: string, id: string, name: string, now: number): Project {
  return {
    workspace_id,
    id,
    name: name.toWellFormed(),
    description: null,
    extra: {},
    reference_dataset_id: null,
    start_time: now,
    end_time: null,
  }
}

/** Project ids by workspace and name, and the ids that exist, for the hot path. */
function createMemory() {
  const ids = new Map<string, Map<string, string>>()
  const existing = new Set<string>()
  let size = 0
  return {
    idOf: (workspace_id: string, name: string): string | undefined => ids.get(workspace_id)?.get(name),
    exists: (workspace_id: string, id: string): boolean => existing.has(workspace_id + id),
    remember(workspace_id: string, name: string, id: string): void {
      if (++size > MAX_KNOWN) this.clear()
      const names = ids.get(workspace_id) ?? new Map<string, string>()
      ids.set(workspace_id, names.set(name, id))
      existing.add(workspace_id + id)
    },
    rememberId(workspace_id: string, id: string): void {
      if (existing.size > MAX_KNOWN) this.clear()
      existing.add(workspace_id + id)
    },
    forgetNames(workspace_id: string): void {
      ids.delete(workspace_id)
    },
    clear(): void {
      ids.clear()
      existing.clear()
      size = 0
    },
  }
}

/** Projects in a SQL database that has been migrated; what has been resolved once is answered from memory. */
export function createProjectStore(database: Database, clock: Clock): ProjectStore {
  const memory = createMemory()

  const resolveName = async (workspace_id: string, name: string): Promise<string> => {
    const known = memory.idOf(workspace_id, name)
    if (known !== undefined) return known
    const fresh = emptyProject(workspace_id, newUuid(), name, clock.now())
    let id = (await findOne(database, workspace_id, 'name', fresh.name))?.id
    // Another process may insert it between the two statements: then its row is the one.
    if (id === undefined && (await insert(database, fresh))) id = fresh.id
    id ??= (await findOne(database, workspace_id, 'name', fresh.name))?.id
    if (id === undefined)
      throw new AppError('internal', { message: 'A project could neither be found nor made.' })
    memory.remember(workspace_id, name, id)
    return id
  }

  const resolveId = async (workspace_id: string, id: string, name: string | null): Promise<string> => {
    if (memory.exists(workspace_id, id)) return id
    if ((await findOne(database, workspace_id, 'id', id)) === undefined) {
      const named = emptyProject(workspace_id, id, name ?? id, clock.now())
      if (!(await insert(database, named))) await insert(database, { ...named, name: id })
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
    get: (workspace_id, id) => findOne(database, workspace_id, 'id', id),
    async list(workspace_id, query) {
      if (query.ids?.length === 0) return []
      const { sql, params } = listStatement(workspace_id, query)
      return (await database.query<ProjectRow>(sql, params)).map(toProject)
    },
    async create(workspace_id, { id, ...fields }, { upsert }) {
      const base = emptyProject(workspace_id, id ?? newUuid(), fields.name ?? DEFAULT_NAME, clock.now())
      const fresh = { ...base, ...said(fields), name: base.name }
      return await database.tx(async (session) => {
        if (await insert(session, fresh)) return fresh
        const namesake = await findOne(session, workspace_id, 'name', fresh.name)
        if (!upsert || namesake === undefined) throw nameTaken()
        return await change(session, namesake, fields)
      })
    },
    async update(workspace_id, id, fields) {
      const changed = await database.tx(async (session) => {
        const before = await findOne(session, workspace_id, 'id', id)
        return before && (await change(session, before, fields))
      })
      memory.forgetNames(workspace_id)
      return changed
    },
  }
}
