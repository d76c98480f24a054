import { AppError, toAppError } from '../base/errors.ts'
import type { Metrics } from '../base/metrics.ts'
import type { SchemaTypes } from '../schema/types.gen.ts'
import type { RouteReply } from './route.ts'

/** What is asked whether it is up, by name: each rejects when it is down. */
export type StoreChecks = Readonly<Record<string, () => Promise<unknown>>>

type Liveness = SchemaTypes['liveness']

const CHECK_MS = 2_000
const EVERY_MS = 10_000
/** Stands for an unexpected error, whose text may hold what clients must not read. */
const UNKNOWN = new AppError('store_unavailable')

/** Undefined for one that is up; one that says nothing for 2 s is down. */
async function problemOf(check: () => Promise<unknown>): Promise<AppError | undefined> {
  const late = Promise.withResolvers<AppError>()
  const timer = setTimeout(() => {
    late.resolve(new AppError('store_unavailable', { message: `No answer within ${CHECK_MS / 1000} s.` }))
  }, CHECK_MS)
  const answer = check().then(
    () => undefined,
    (error: unknown) => (toAppError(error).code === 'internal' ? UNKNOWN : toAppError(error)),
  )
  return await Promise.race([answer, late.promise]).finally(() => clearTimeout(timer))
}

async function problemsOf(checks: StoreChecks): Promise<[name: string, problem: AppError | undefined][]> {
  return Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await problemOf(check)]))
}

/** The answer of `/ok`; with `checks` it says of each whether it is up, and is 503 when one is not. */
export async function livenessReply(checks: StoreChecks | undefined): Promise<RouteReply<Liveness>> {
  if (checks === undefined) return { body: { ok: true } }
  const found = await problemsOf(checks)
  const states = Object.fromEntries(found.map(([name, problem]) => [name, problem ? 'down' : 'up'] as const))
  const problems = found.flatMap(([name, problem]) =>
    problem === undefined ? [] : [[name, { code: problem.code, detail: problem.message }] as const],
  )
  if (problems.length === 0) return { body: { ok: true, checks: states } }
  const body = { ok: false, checks: states, problems: Object.fromEntries(problems) }
  return { status: 503, headers: { 'retry-after': 1 }, body }
}

/** Keeps the gauge `weir_store_up` as the checks say, asked every ten seconds; returns what ends it. */
export function watchStores({ checks, metrics }: { checks: StoreChecks; metrics: Metrics }): () => void {
  const up = metrics.gauge(
    'weir_store_up',
    'Whether a store answered when it was last asked, at most 10 s ago: 1 or 0, by store (clickhouse, sql, runs, redis), and disk for that of DATA_DIR.',
  )
  const ask = async (): Promise<void> => {
    for (const [store, problem] of await problemsOf(checks)) up.set(problem === undefined ? 1 : 0, { store })
  }
  void ask()
  const timer = setInterval(() => void ask(), EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
