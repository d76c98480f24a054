import type { Filter } from '../../../trace/filter/filter.ts'
import type { FilterField } from '../../../trace/filter/fields.ts'
import type { SqlCondition } from '../filter-sql.ts'

/** The skip indexes of `runs` for filters (migration 0020). */
export const FILTER_INDEXES = [
  'by_name',
  'by_model',
  'by_status',
  'by_user',
  'by_tag',
  'by_metadata_key',
  'by_metadata_value',
] as const

type Bind = (value: unknown, type: string) => string

/** The columns with an index, and the types of their values. */
const COLUMNS: Partial<Record<FilterField, { sql: string; type: string }>> = {
  name: { sql: 'name', type: 'String' },
  model: { sql: 'model', type: 'String' },
  status: { sql: 'status', type: 'String' },
  user: { sql: 'user_id', type: 'UUID' },
}
const MAPS: Partial<Record<FilterField, string>> = {
  metadata_key: 'mapKeys(metadata)',
  metadata_value: 'mapValues(metadata)',
}

/**
 * A condition that every row satisfies which satisfies the filter, in the form in which ClickHouse looks it up in the
 * indexes. Undefined if the indexes have nothing for this filter. Parameters begin with `prefix`.
 */
export function indexedSql(filter: Filter, prefix: string): SqlCondition | undefined {
  const params: Record<string, unknown> = {}
  const bind: Bind = (value, type) => {
    const name = `${prefix}_has${Object.keys(params).length}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const sql = necessarySql(filter, bind)
  return sql === undefined ? undefined : { sql, params }
}

function necessarySql(filter: Filter, bind: Bind): string | undefined {
  switch (filter.kind) {
    case 'and': {
      const known = filter.of.flatMap((one) => necessarySql(one, bind) ?? [])
      return known.length === 0 ? undefined : known.join(' AND ')
    }
    case 'or': {
      const known = filter.of.flatMap((one) => necessarySql(one, bind) ?? [])
      return known.length === 0 || known.length < filter.of.length
        ? undefined
        : `(${known.map((one) => `(${one})`).join(' OR ')})`
    }
    case 'entry':
      return filter.among === 'metadata' ? necessarySql(filter.of, bind) : undefined
    case 'listed':
      return filter.list === 'tags' ? `hasAny(tags, ${bind(filter.values, 'Array(String)')})` : undefined
    case 'compare':
      return filter.is === 'eq' ? valuesSql(filter.field, [filter.value], bind) : undefined
    case 'in':
      return valuesSql(filter.field, filter.values, bind)
    default:
      return undefined
  }
}

function valuesSql(field: FilterField, values: readonly unknown[], bind: Bind): string | undefined {
  const column = COLUMNS[field]
  const map = MAPS[field]
  // Numbers are compared with metadata as numbers, whatever their text.
  if (!values.every((value) => typeof value === 'string')) return undefined
  if (column !== undefined) return `${column.sql} IN ${bind(values, `Array(${column.type})`)}`
  return map === undefined ? undefined : `hasAny(${map}, ${bind(values, 'Array(String)')})`
}
