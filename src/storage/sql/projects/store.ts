import type { Clock } from '../../../base/clock.ts'
import { AppError, toAppError } from '../../../base/errors.ts'
import { newUuid } from '../../../base/ids.ts'
import { fitting, portionsOf, type Sized } from '../../../base/portions.ts'
import type {
  Project,
  ProjectFields,
  ProjectKey,
  ProjectQuery,
  ProjectStore,
} from '../../../ingest/project-store.ts'
import {
  type Database,
  type SqlSession,
  type SqlValue,
  storableText,
  WHOLE_TABLE,
} from '../driver/database.ts'
import { createProjectResolver, type FreshProject } from './resolver.ts'
import { createSpanFilters } from './span-filters.ts'
import { deleteAlertsOf } from '../alerts/alert-store.ts'
import { deleteViewsOf } from './view-store.ts'
import {
  DEFAULT_NAME,
  emptyProject,
  findProject,
  insertProject,
  PROJECT_COLUMNS,
  type ProjectRow,
  toProject,
} from './rows.ts'
import { retentionOf } from './workspace-retention.ts'

const MAX_KEYS = 100_000
const TYPE = `coalesce(type, CASE WHEN reference_dataset_id IS NULL THEN 'PROJECT' ELSE 'EXPERIMENT' END)`

/** The fields that are not undefined. */
function sentFields(fields: ProjectFields): Partial<Project> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  )
}

async function change(session: SqlSession, before: Project, fields: Partial<Project>): Promise<Project> {
  const after: Project = { ...before, ...fields, id: before.id, workspace_id: before.workspace_id }
  after.name = storableText(after.name)
  const namesake = await findProject(session, before.workspace_id, 'name', after.name)
  if (namesake !== undefined && namesake.id !== before.id) throw nameTaken()
  const write = session.query(
    `UPDATE projects SET name = ?, description = ?, extra = ?, reference_dataset_id = ?, start_time = ?, end_time = ?,
       retention_days = ?, trace_tier = ?, type = ?, default_dataset_id = ?, span_filters = ?
     WHERE workspace_id = ? AND id = ?`,
    [
      after.name,
      after.description,
      JSON.stringify(after.extra),
      after.reference_dataset_id,
      after.start_time,
      after.end_time,
      after.retention_days,
      after.trace_tier,
      after.type,
      after.default_dataset_id,
      JSON.stringify(after.span_filters),
      after.workspace_id,
      after.id,
    ],
  )
  // If ingest has created a project with the new name in the meantime, the unique constraint refuses the update.
  await write.catch((error: unknown) => {
    throw toAppError(error).code === 'conflict' ? nameTaken() : error
  })
  return after
}

function nameTaken(): AppError {
  return new AppError('conflict', { message: 'Session already exists.' })
}

function conditionsOf(
  workspace_id: string,
  query: Omit<ProjectQuery, 'limit' | 'offset' | 'max_bytes'>,
): { where: string; params: SqlValue[] } {
  const conditions = ['workspace_id = ?']
  const params: SqlValue[] = [workspace_id]
  const among = (column: string, values: readonly string[] | undefined): void => {
    if (values === undefined) return
    conditions.push(values.length === 0 ? '1 = 0' : `${column} IN (${values.map(() => '?').join(', ')})`)
    params.push(...values)
  }
  among('id', query.ids)
  among('reference_dataset_id', query.reference_dataset_ids)
  among(TYPE, query.types)
  if (query.reference_free !== undefined)
    conditions.push(`reference_dataset_id IS ${query.reference_free ? '' : 'NOT '}NULL`)
  if (query.name !== undefined) {
    conditions.push('name = ?')
    params.push(query.name)
  }
  if (query.name_contains !== undefined) {
    conditions.push(`lower(name) LIKE lower(?) ESCAPE '!'`)
    params.push(`%${query.name_contains.replace(/[!%_]/g, '!$&')}%`)
  }
  return { where: conditions.join(' AND '), params }
}

function listStatement(workspace_id: string, query: ProjectQuery): { sql: string; params: SqlValue[] } {
  const { where, params } = conditionsOf(workspace_id, query)
  // Reads one row more than requested, to know whether more rows follow.
  const sql = `SELECT id, octet_length(extra) AS bytes FROM projects WHERE ${where}
    ORDER BY start_time DESC, id LIMIT ? OFFSET ?`
  return { sql, params: [...params, query.limit + 1, query.offset] }
}

async function remove(
  session: SqlSession,
  { workspace_id, id, now }: { workspace_id: string; id: string; now: number },
): Promise<Project | undefined> {
  const found = await findProject(session, workspace_id, 'id', id)
  if (found === undefined) return undefined
  await deleteAlertsOf(session, { workspace_id, project_id: id }, now)
  await deleteViewsOf(session, workspace_id, id)
  await session.query('DELETE FROM projects WHERE workspace_id = ? AND id = ?', [workspace_id, id])
  return found
}

function changing(
  database: Database,
  clock: Clock,
  forgetProjects: (workspace_id: string) => void,
): Pick<ProjectStore, 'update' | 'revise' | 'delete'> {
  const revise: ProjectStore['revise'] = async (workspace_id, id, revised) => {
    const changed = await database.tx(`projects:${workspace_id}`, async (session) => {
      const before = await findProject(session, workspace_id, 'id', id)
      return before && (await change(session, before, revised(before)))
    })
    forgetProjects(workspace_id)
    return changed
  }
  return {
    update: (workspace_id, id, fields) => revise(workspace_id, id, () => sentFields(fields)),
    revise,
    async delete(workspace_id, id) {
      const gone = await database.tx(`projects:${workspace_id}`, (session) =>
        remove(session, { workspace_id, id, now: clock.now() }),
      )
      forgetProjects(workspace_id)
      return gone
    },
  }
}

/** Projects in a SQL database that has been migrated. `retention_days` is that of new projects; default: null. */
export function createProjectStore(
  database: Database,
  clock: Clock,
  { retention_days = null }: { retention_days?: number | null } = {},
): ProjectStore {
  const newRetention = async (workspace_id: string): Promise<number | null> => {
    const own = await retentionOf(database, workspace_id)
    return own === null ? retention_days : own || null
  }
  const fresh: FreshProject = async (named) =>
    emptyProject(named, { now: clock.now(), retention_days: await newRetention(named.workspace_id) })
  const resolver = createProjectResolver(database, clock, fresh)
  const filters = createSpanFilters(database, clock)
  const forget = (workspace_id: string): void => {
    resolver.forgetProjects(workspace_id)
    filters.forget(workspace_id)
  }
  return {
    retention_days,
    newRetention,
    resolve: resolver.resolve,
    known: resolver.known,
    spanFilters: filters.of,
    get: (workspace_id, id) => findProject(database, workspace_id, 'id', id),
    async list(workspace_id, query) {
      if (query.ids?.length === 0) return { projects: [], more: false }
      const { sql, params } = listStatement(workspace_id, query)
      const places = await database.query<Sized & { id: string }>(sql, params)
      const shown = fitting(places.slice(0, query.limit), query.max_bytes)
      const projects: Project[] = []
      for await (const portion of portionsOf(shown)) {
        const marks = portion.map(() => '?').join(', ')
        const rows = await database.query<ProjectRow>(
          `SELECT ${PROJECT_COLUMNS} FROM projects WHERE workspace_id = ? AND id IN (${marks})`,
          [workspace_id, ...portion.map(({ id }) => id)],
        )
        const byId = new Map(rows.map((row) => [row.id, row]))
        for (const { id } of portion) projects.push(...[byId.get(id) ?? []].flat().map(toProject))
      }
      return { projects, more: shown.length < places.length }
    },
    async create(workspace_id, { id, ...fields }, { upsert }) {
      const base = await fresh({ workspace_id, id: id ?? newUuid(), name: fields.name ?? DEFAULT_NAME })
      const made = { ...base, ...sentFields(fields), name: base.name }
      const written = await database.tx(`projects:${workspace_id}`, async (session) => {
        if (await insertProject(session, made)) return made
        const namesake = await findProject(session, workspace_id, 'name', made.name)
        if (!upsert || namesake === undefined) throw nameTaken()
        return await change(session, namesake, sentFields(fields))
      })
      filters.forget(workspace_id)
      return written
    },
    ...changing(database, clock, forget),
    keys(workspace_id, query) {
      const { where, params } = conditionsOf(workspace_id, query)
      const sql = `SELECT id, name, start_time FROM projects WHERE ${where} LIMIT ?`
      return database.query<ProjectKey>(sql, [...params, MAX_KEYS], WHOLE_TABLE)
    },
    async names(workspace_ids) {
      if (workspace_ids.length === 0) return new Map()
      const places = workspace_ids.map(() => '?').join(', ')
      const rows = await database.query<Pick<Project, 'workspace_id' | 'id' | 'name'>>(
        `SELECT workspace_id, id, name FROM projects WHERE workspace_id IN (${places})`,
        workspace_ids,
      )
      return new Map(rows.map(({ workspace_id, id, name }) => [`${workspace_id}/${id}`, name]))
    },
  }
}
