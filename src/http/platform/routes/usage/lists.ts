import type { Principal } from '../../../../identity/principal.ts'
import { AppError } from '../../../../base/errors.ts'
import { NIL_UUID, parseUuid } from '../../../../base/ids.ts'
import { listUsageRuns, SUMMED, type UsageModel } from '../../../../usage/report/runs.ts'
import { listUsageTraces } from '../../../../usage/report/traces.ts'
import type { AppDeps } from '../../app-deps.ts'
import {
  choiceParameter,
  integerParameter,
  optionalTimeParameter,
  optionalUuidParameter,
  type ParameterValues,
  repeatedTextParameter,
  textParameter,
  textsParameter,
  uuidsParameter,
} from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { COMMON, namesOf, PATH, RANGE, readableOf, RULES, sourcesOf } from './common.ts'

const LIST_QUERY = {
  ...RANGE,
  time_bucket: optionalTimeParameter('Only this bucket of the report with the same range, by its start.'),
  project_id: optionalUuidParameter('Only this project.'),
  user_id: textParameter('Only what this user sent; `null` for what was sent without one.'),
  api_key: textParameter('Only what was sent with this key, by its short key.'),
  exclude_project_id: uuidsParameter('Not these projects.'),
  exclude_user_id: textsParameter('Not what these users sent; `null` for what was sent without one.'),
  exclude_api_key: textsParameter('Not what was sent with these keys, by their short keys.'),
  cursor: textParameter('`next_cursor` of the page before.'),
  limit: integerParameter('Maximum number of records.', { minimum: 1, maximum: 1000, otherwise: 100 }),
}

const TRACES_QUERY = { ...LIST_QUERY, trace_id: optionalUuidParameter('Only this trace.') }
const RUNS_QUERY = {
  ...LIST_QUERY,
  of: choiceParameter('The number: the sum of tokens or of costs, or `unpriced_runs`.', SUMMED),
  provider: textParameter('Only calls of this provider; `null` for those without one.'),
  model: repeatedTextParameter(
    'Only calls of this model, or of any of several; `null` for those without one.',
  ),
  exclude_model: repeatedTextParameter(
    'Not calls of this model: a JSON array of its provider and its name, each null for none.',
  ),
}

/** Maximum number of values of one parameter. */
const MOST_VALUES = 100

/** @throws AppError invalid_request */
function invalid(name: string, msg: string, type: string): AppError {
  return new AppError('invalid_request', { details: [{ loc: ['query', name], msg, type }] })
}

/** Reads the user id of a list; NIL_UUID selects the records without a user. @throws AppError invalid_request */
function userOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  return idOfUser(text, 'user_id')
}

function idOfUser(text: string, parameter: string): string {
  const user_id = text === 'null' ? NIL_UUID : parseUuid(text)
  if (user_id === undefined) throw invalid(parameter, 'must be a UUID or null', 'invalid_uuid')
  return user_id
}

type Excluded = Pick<
  ParameterValues<typeof RUNS_QUERY>,
  'exclude_project_id' | 'exclude_user_id' | 'exclude_api_key'
>

/** The groups that a list leaves out. @throws AppError invalid_request */
function excludedOf({ exclude_project_id, exclude_user_id, exclude_api_key }: Excluded) {
  for (const [name, values] of Object.entries({ exclude_project_id, exclude_user_id, exclude_api_key }))
    checkNumber(name, values)
  return {
    project_id: exclude_project_id,
    user_id: exclude_user_id.map((text) => idOfUser(text, 'exclude_user_id')),
    api_key: exclude_api_key,
  }
}

/** @throws AppError invalid_request */
function checkNumber(name: string, values: readonly string[]): void {
  if (values.length > MOST_VALUES) throw invalid(name, `must have at most ${MOST_VALUES} values`, 'too_long')
}

/** @throws AppError invalid_request */
function modelOf(text: string): UsageModel {
  const parsed: unknown = parsedJson(text)
  const isName = (value: unknown): boolean => value === null || typeof value === 'string'
  if (!Array.isArray(parsed) || parsed.length !== 2 || !parsed.every(isName))
    throw invalid('exclude_model', 'must be a JSON array of a provider and a model', 'invalid_model')
  const [provider, model] = parsed as (string | null)[]
  return { provider: provider ?? '', model: model ?? '' }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The name of a provider or a model; '' selects records without one. */
function nameOf(text: string | undefined): string | undefined {
  return text === 'null' ? '' : text
}

/** The selection of a list of traces or runs, with readable workspaces only, and their names. @throws AppError */
async function selectionOf(
  deps: AppDeps,
  principal: Principal,
  query: Pick<ParameterValues<typeof LIST_QUERY>, 'start_time' | 'end_time' | 'time_bucket' | 'user_id'> &
    Excluded & { workspace_ids: readonly string[] },
) {
  const workspace_ids = await readableOf(deps, principal, query.workspace_ids)
  const { start_time: start, end_time: end, time_bucket: bucket, user_id } = query
  const excluded = excludedOf(query)
  const selection = { workspace_ids, start, end, bucket, user_id: userOf(user_id), excluded }
  return { selection, loadNames: () => namesOf(deps, principal, workspace_ids, 'project') }
}

function runsRoute(): PlatformRoute {
  return route({
    ...COMMON,
    path: `${PATH}/usage-runs`,
    summary: 'The logged runs whose tokens or costs a number of usage-details adds up',
    description: `The tokens or costs of all pages of a bucket and group add up to the number in the report. ${RULES}`,
    query: RUNS_QUERY,
    reply: 'usage-runs',
    async handle({ deps, principal, query }) {
      const { project_id, api_key, of, provider, model, exclude_model, cursor, limit } = query
      checkNumber('model', model)
      checkNumber('exclude_model', exclude_model)
      const { selection, loadNames } = await selectionOf(deps, principal, query)
      const request = {
        ...selection,
        project_id,
        api_key,
        of,
        cursor,
        limit,
        provider: nameOf(provider),
        models: model.length === 0 ? undefined : model.map((name) => nameOf(name) ?? ''),
        excluded_models: exclude_model.map(modelOf),
      }
      return { body: await listUsageRuns(sourcesOf(deps).runs, request, loadNames) }
    },
  })
}

function tracesRoute(): PlatformRoute {
  return route({
    ...COMMON,
    path: `${PATH}/usage-traces`,
    summary: 'The traces that a number of granular-usage counts',
    description: `Read from the table in which they are counted: the pages of a bucket and group have as many traces as the report has. ${RULES}`,
    query: TRACES_QUERY,
    reply: 'usage-traces',
    async handle({ deps, principal, query }) {
      const { project_id, api_key, trace_id, cursor, limit } = query
      const { selection, loadNames } = await selectionOf(deps, principal, query)
      const request = { ...selection, project_id, api_key, trace_id, cursor, limit }
      return { body: await listUsageTraces(sourcesOf(deps).traces, request, loadNames) }
    },
  })
}

/** Defines the routes that list the traces or runs behind a number of the usage reports. */
export function usageListRoutes(): PlatformRoute[] {
  return [tracesRoute(), runsRoute()]
}
