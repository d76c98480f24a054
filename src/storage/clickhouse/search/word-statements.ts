import type { ListQuery } from '../../../ingest/store/trace-store.ts'
import { requiredSearches } from '../../../trace/filter/filter.ts'
import type { SqlCondition } from '../filter-sql.ts'
import { fragmentsSql } from '../fragments/fragments-sql.ts'
import { KEY, listConditions, newestSql, orderSql } from '../list-sql.ts'
import { FEW_AT_A_TIME, fragmentWordsSql, isInRowText, rowWordsSql, wordsOf } from './search-sql.ts'

/** Statements that find the TraceRuns of a search by the words of its text. */
export interface WordStatements {
  /** Column `count`: the number of fragments with the words, counted up to `most`. */
  fragments(most: number): SqlCondition
  /**
   * `sort_time` and `run_id` of the first TraceRuns of the list whose row or fragments contain the words. Only these
   * can match the search. `few` is true for a list of few rows; the statement then reads these rows instead of the
   * places of all fragments.
   */
  places(query: ListQuery, few: boolean): SqlCondition
}

/**
 * Returns the statements for a filter with a search that the indexes can answer and that every match must satisfy.
 * Returns undefined for all other filters.
 */
export function wordStatements(
  columns: readonly string[],
  { filter }: ListQuery,
): WordStatements | undefined {
  const search = (filter ? requiredSearches(filter) : []).find(({ fields }) => fields.every(isInRowText))
  const words = search === undefined ? [] : wordsOf(search.text)
  if (words.length === 0) return undefined
  const wordParams: Record<string, unknown> = {}
  const bind = (value: unknown, type: string): string => {
    const name = `word${Object.keys(wordParams).length}`
    wordParams[name] = value
    return `{${name}:${type}}`
  }
  const [inRow, inFragment] = [rowWordsSql(words, bind), fragmentWordsSql(words, bind)]
  const found = { where: [inFragment], keyword: 'WHERE' } as const
  return {
    fragments: (most) => ({
      sql: `SELECT count() AS count FROM (
        ${fragmentsSql({ ...found, columns: '1', end: `LIMIT ${most} ${FEW_AT_A_TIME}` })})`,
      params: wordParams,
    }),
    places(query, few) {
      const { keys, rest, params } = listConditions(query, { search: 'assume' })
      const within = keys.join(' AND ')
      const ofRuns = few ? `run_id IN (SELECT run_id FROM runs WHERE ${within})` : undefined
      const places = `(${KEY}) IN (
        SELECT ${KEY} FROM runs WHERE ${within} AND ${inRow}
        UNION ALL
        SELECT ${KEY} FROM ${few ? 'runs' : 'run_places'} WHERE ${within} AND run_id IN (
          ${fragmentsSql({ ...found, columns: 'run_id', ofRuns, end: FEW_AT_A_TIME })}))`
      const sql = `SELECT toUnixTimestamp64Micro(runs.sort_time) AS sort_time, run_id
        FROM (${newestSql(columns, [...keys, places], orderSql(query))}) AS runs
        WHERE ${rest.join(' AND ')} LIMIT {limit:UInt32}`
      return { sql, params: { ...params, ...wordParams } }
    },
  }
}
