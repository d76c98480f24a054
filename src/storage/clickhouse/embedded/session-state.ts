import { quoteName, quoteSql } from './statement.ts'

/** The session state that one query needs. Values have the same text form as in the URL. */
export interface QueryContext {
  readonly database: string | undefined
  readonly settings: ReadonlyMap<string, string>
  readonly params: ReadonlyMap<string, string>
}

/** The last state of a session; a value `undefined` is unknown and must be set again. */
export interface SessionState {
  database: string | undefined
  readonly settings: Map<string, string | undefined>
  readonly params: Map<string, string | undefined>
}

export function newSessionState(): SessionState {
  return { database: undefined, settings: new Map(), params: new Map() }
}

const SETTING_NAME = /^[A-Za-z_]\w*$/
const PARAM_IN_SQL = /\{\s*(\w+)\s*:/g

/**
 * The statements that give a session the settings, parameters and database of the next query; none if it has them
 * already. Parameters are set in the session, in the text form of ClickHouse's URL, so values are never parsed as SQL.
 * chDB's own call with bound parameters is not used, because it allows only one query at a time in the process.
 */
export function preamble(state: SessionState, wanted: QueryContext): string[] {
  const assignments: string[] = []
  for (const name of state.settings.keys()) {
    if (!wanted.settings.has(name)) assignments.push(`${name} = DEFAULT`)
  }
  for (const [name, value] of wanted.settings) {
    if (state.settings.get(name) !== value) assignments.push(`${settingName(name)} = ${quoteSql(value)}`)
  }
  for (const [name, value] of wanted.params) {
    if (state.params.get(name) !== value) assignments.push(`param_${settingName(name)} = ${quoteSql(value)}`)
  }
  const statements = assignments.length === 0 ? [] : [`SET ${assignments.join(', ')}`]
  if (wanted.database !== undefined && wanted.database !== state.database) {
    statements.unshift(`USE ${quoteName(wanted.database)}`)
  }
  return statements
}

/** Must be called before the preamble runs. Marks everything that the preamble sets as unknown, in case it fails. */
export function beginPreamble(state: SessionState, wanted: QueryContext): void {
  state.database = undefined
  for (const name of [...state.settings.keys(), ...wanted.settings.keys()])
    state.settings.set(name, undefined)
  for (const name of wanted.params.keys()) state.params.set(name, undefined)
}

/** Must be called after the preamble has succeeded. */
export function endPreamble(state: SessionState, wanted: QueryContext): void {
  state.database = wanted.database
  for (const name of state.settings.keys()) {
    if (!wanted.settings.has(name)) state.settings.delete(name)
  }
  for (const [name, value] of wanted.settings) state.settings.set(name, value)
  for (const [name, value] of wanted.params) state.params.set(name, value)
}

/**
 * The first parameter that the SQL uses and the request lacks, although an earlier query of the session has set it.
 * chDB would silently use the old value; a ClickHouse server answers UNKNOWN_QUERY_PARAMETER.
 */
export function staleParam(state: SessionState, sql: string, wanted: QueryContext): string | undefined {
  for (const [, name] of sql.matchAll(PARAM_IN_SQL)) {
    if (name !== undefined && !wanted.params.has(name) && state.params.has(name)) return name
  }
  return undefined
}

function settingName(name: string): string {
  return SETTING_NAME.test(name) ? name : quoteName(name)
}
