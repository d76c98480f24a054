import { AppError } from '../../../../base/errors.ts'
import type { Project } from '../../../../ingest/project-store.ts'
import { isObject } from '../../../../schema/json.ts'
import type { FilterValue } from '../../../../trace/filter/fields.ts'
import { type Filter, parseFilter } from '../../../../trace/filter/filter.ts'

/** An entry of a project's metadata. */
interface Entry {
  key: string
  value: unknown
}

/**
 * Whether a project satisfies a filter expression; it may compare `id`, `name`, `start_time` and metadata. The values
 * are those of the project, not of its TraceRuns.
 * @throws AppError invalid_request for an invalid expression, not_implemented for other fields
 */
export function projectFilter(text: string): (project: Project) => boolean {
  const filter = parseFilter(text)
  // Compare once without a project, so that an unknown field is refused even if there are no projects.
  satisfies(filter, undefined, undefined)
  return (project) => satisfies(filter, project, undefined)
}

function satisfies(filter: Filter, project: Project | undefined, entry: Entry | undefined): boolean {
  const all = (of: readonly Filter[]): boolean[] => of.map((one) => satisfies(one, project, entry))
  switch (filter.kind) {
    case 'and':
      return all(filter.of).every(Boolean)
    case 'or':
      return all(filter.of).some(Boolean)
    case 'not':
      return !satisfies(filter.of, project, entry)
    case 'entry': {
      if (filter.among !== 'metadata') throw unsupported('feedback')
      const entries = project === undefined ? [{ key: '', value: '' }] : entriesOf(project)
      return entries.map((one) => satisfies(filter.of, project, one)).some(Boolean)
    }
    case 'missing':
      return valueOf(filter.field, project, entry) === undefined
    case 'compare':
      return compares(valueOf(filter.field, project, entry), filter.is, filter.value)
    case 'in':
      return filter.values.some((value) => compares(valueOf(filter.field, project, entry), 'eq', value))
    case 'search':
      if (!filter.fields.includes('name')) throw unsupported(filter.fields.join(', '))
      return (project?.name ?? '').toLowerCase().includes(filter.text.toLowerCase())
    case 'listed':
      throw unsupported(filter.list)
  }
}

function entriesOf({ extra }: Project): Entry[] {
  const metadata = extra['metadata']
  return isObject(metadata) ? Object.entries(metadata).map(([key, value]) => ({ key, value })) : []
}

function valueOf(field: string, project: Project | undefined, entry: Entry | undefined): unknown {
  if (field === 'metadata_key') return entry?.key
  if (field === 'metadata_value') return entry?.value
  if (field === 'id' || field === 'session') return project?.id
  if (field === 'name') return project?.name
  if (field === 'start_time') return project && project.start_time * 1000
  throw unsupported(field)
}

function compares(value: unknown, is: string, wanted: FilterValue): boolean {
  if (value === undefined || value === null) return false
  const own = typeof wanted === 'number' ? Number(value) : String(value)
  if (is === 'eq') return own === wanted
  if (is === 'gt') return own > wanted
  if (is === 'gte') return own >= wanted
  return is === 'lt' ? own < wanted : own <= wanted
}

function unsupported(field: string): AppError {
  const message = `A filter of projects can compare id, name, start_time and metadata, not ${field}.`
  return new AppError('not_implemented', { message })
}
