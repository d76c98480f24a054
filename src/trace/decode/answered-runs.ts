import { AppError } from '../../base/errors.ts'
import { parseUuid } from '../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../schema/json.ts'
import type { ValidationReport } from '../../schema/types.gen.ts'
import { ISSUE_CODES } from '../../schema/issue.ts'
import type { Checks } from '../derive/trace-run.ts'
import { applicableChecks, CHECKS, NO_CHECKS, passesChecks } from '../derive/verdicts.ts'

type ReportedRun = ValidationReport['runs'][number]

/** Fields of a run that ingest takes, by their names in API v1. */
const SENT_FIELDS = [
  'id',
  'name',
  'run_type',
  'start_time',
  'end_time',
  'inputs',
  'outputs',
  'error',
  'extra',
  'events',
  'serialized',
  'tags',
]
/** Fields that say where a run is in its trace; dotted_order alone says all of it. */
const PLACE_FIELDS = ['dotted_order', 'trace_id', 'parent_run_id']
/** What to ask for, so that llm runs can be checked. */
const SELECTS = {
  v1: '"select": ["inputs", "outputs", "extra", "error", "start_time", "end_time"]',
  v2: '"selects": ["ID", "NAME", "RUN_TYPE", "START_TIME", "END_TIME", "INPUTS", "OUTPUTS", "EXTRA", "ERROR"]',
}
const NO_REASON = 'the server says so; with "llm" in "select" its answer has the reason'

/** The runs of an answer of `POST /runs/query`, divided by how they are checked. */
export interface AnsweredRuns {
  sent: JsonObject[]
  /** Runs with the verdicts of the server. */
  judged: ReportedRun[]
}

/**
 * Reads an answer of `POST /runs/query` of API v1 or v2; undefined for any other value. @throws AppError
 * invalid_request when it lacks the fields of an llm run that the verdicts are about
 */
export function readQueryAnswer(value: JsonValue | undefined): AnsweredRuns | undefined {
  if (!isObject(value)) return undefined
  if (Array.isArray(value['runs']) && !('post' in value)) return divide(value['runs'], 'v1')
  if (Array.isArray(value['items']) && 'next_cursor' in value) return divide(value['items'], 'v2')
  return undefined
}

function divide(runs: readonly JsonValue[], version: 'v1' | 'v2'): AnsweredRuns {
  const answered: AnsweredRuns = { sent: [], judged: [] }
  for (const run of runs.filter(isObject)) {
    const judged = judgedRun(run)
    if (judged !== undefined) answered.judged.push(judged)
    else answered.sent.push(sentRun(version === 'v1' ? run : fromV2(run), version))
  }
  return answered
}

/**
 * A run of an answer of this server, with the verdicts that it has there. Undefined if it has none; `isComplete` says
 * that a run without any is no call of a model.
 */
export function judgedRun(run: JsonObject, isComplete = false): ReportedRun | undefined {
  const run_id = parseUuid(run['id'])
  const llm = isObject(run['llm']) ? run['llm'] : {}
  const checks = checksOf(llm['checks'])
  if (run_id === undefined || (checks === undefined && !isComplete)) return undefined
  const run_type = text(run['run_type']) ?? 'chain'
  const shown = checks === undefined ? NO_CHECKS : applicableChecks(run_type, checks)
  const usage = isObject(llm['usage_metadata']) ? llm['usage_metadata'] : {}
  const sources = isObject(llm['usage_source']) ? llm['usage_source'] : {}
  return {
    run_id,
    name: text(run['name']) ?? 'unnamed',
    run_type,
    valid: passesChecks(run_type, shown),
    checks: shown,
    provider: text(llm['provider']) ?? null,
    model: text(llm['model']) ?? null,
    model_source: text(llm['model_source']) ?? null,
    input_format: text(llm['input_format']) ?? null,
    output_format: text(llm['output_format']) ?? null,
    input_tokens: countOf(usage['input_tokens']),
    output_tokens: countOf(usage['output_tokens']),
    usage_source: { input: sourceOf(sources['input']), output: sourceOf(sources['output']) },
    issues: issuesIn(llm['issues'] ?? run['issues']),
  }
}

/** The verdicts in an answer; lists of runs have them without reasons. */
function checksOf(value: JsonValue | undefined): Checks | undefined {
  if (!isObject(value)) return undefined
  const checks: Partial<Checks> = {}
  for (const name of CHECKS) {
    const verdict = value[name]
    if (!isObject(verdict) || typeof verdict['ok'] !== 'boolean') return undefined
    checks[name] = verdict['ok'] ? { ok: true } : { ok: false, reason: text(verdict['reason']) ?? NO_REASON }
  }
  return checks as Checks
}

const SOURCES = ['client', 'vendor', 'estimate'] as const
const SEVERITIES = ['error', 'warning', 'info'] as const

function sourceOf(value: JsonValue | undefined): ReportedRun['usage_source']['input'] {
  return SOURCES.find((source) => source === value) ?? null
}

function countOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

/** Whole issues; lists of runs have only their codes. */
function issuesIn(value: JsonValue | undefined): ReportedRun['issues'] {
  return (Array.isArray(value) ? value : []).filter(isObject).flatMap((issue) => {
    const code = ISSUE_CODES.find((known) => known === issue['code'])
    const severity = SEVERITIES.find((word) => word === issue['severity'])
    const message = text(issue['message'])
    if (code === undefined || severity === undefined || message === undefined) return []
    const fix = text(issue['fix'])
    return [{ code, severity, path: text(issue['path']) ?? '', message, ...(fix !== undefined && { fix }) }]
  })
}

/** The fields of a run that were sent, as ingest takes them. @throws AppError invalid_request if an llm run lacks some */
function sentRun(run: JsonObject, version: 'v1' | 'v2'): JsonObject {
  const isCall = run['run_type'] === 'llm'
  if (isCall && (!('extra' in run) || !('inputs' in run || 'outputs' in run))) {
    throw new AppError('invalid_request', {
      message: `The answer has llm runs without their inputs, outputs or extra, which the checks need. Request them: ${SELECTS[version]}.`,
    })
  }
  const fields = 'dotted_order' in run ? [...SENT_FIELDS, ...PLACE_FIELDS] : SENT_FIELDS
  return Object.fromEntries(fields.flatMap((name) => (name in run ? [[name, run[name] ?? null]] : [])))
}

/** A run of API v2 under the names of v1. */
function fromV2(run: JsonObject): JsonObject {
  const { metadata, manifest, parent_run_ids } = run
  const extra = isObject(run['extra']) ? run['extra'] : undefined
  const parent = Array.isArray(parent_run_ids) ? (parent_run_ids.at(-1) ?? null) : undefined
  const run_type = text(run['run_type'])?.toLowerCase()
  return {
    ...run,
    ...(run_type !== undefined && { run_type }),
    ...(isObject(metadata) && { extra: { ...extra, metadata } }),
    ...(manifest !== undefined && { serialized: manifest }),
    ...(parent !== undefined && { parent_run_id: parent }),
  }
}
