import type { StoreChecks } from '../../base/background/store-checks.ts'
import { AppError, toAppError } from '../../base/errors.ts'
import type { Metrics } from '../../base/metrics.ts'
import { isObject } from '../../schema/json.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { RouteReply } from '../api/route.ts'

type Liveness = SchemaTypes['liveness']

/** Default time limit of a check. */
const CHECK_MS = 2_000
/** Time limit of the checks of health: a store that is only slow is not down. Shorter than the checks are apart. */
const HEALTH_MS = 5_000
const EVERY_MS = 10_000
/** For this long after a response, a store that is late is busy and not down. Longer than the checks are apart. */
const RECENT_MS = 15_000
/** Replaces unexpected errors, whose messages may contain secrets. */
const UNKNOWN = new AppError('store_unavailable')

interface Patience {
  /** Time in which a store must answer. */
  ms: number
  /** Whether a store may be late. Default: it may not. */
  mayBeLate?(store: string): boolean
}

/** Returns the error of a check; undefined if the store is up. */
async function problemOf(
  store: string,
  check: () => Promise<unknown>,
  { ms, mayBeLate = () => false }: Patience,
): Promise<AppError | undefined> {
  const late = Promise.withResolvers<AppError | undefined>()
  const isLate = (): void => {
    const problem = new AppError('store_unavailable', { message: `No answer within ${ms / 1000} s.` })
    late.resolve(mayBeLate(store) ? undefined : problem)
  }
  // A response that came while this thread was busy is read before `isLate` is called.
  const timer = setTimeout(() => setImmediate(isLate), ms)
  const answer = check().then(
    () => undefined,
    (error: unknown) => (toAppError(error).code === 'internal' ? UNKNOWN : toAppError(error)),
  )
  return await Promise.race([answer, late.promise]).finally(() => clearTimeout(timer))
}

async function problemsOf(
  checks: StoreChecks,
  patience: Patience = { ms: CHECK_MS },
): Promise<[name: string, problem: AppError | undefined][]> {
  const all = Object.entries(checks)
  return Promise.all(all.map(async ([name, check]) => [name, await problemOf(name, check, patience)]))
}

/** The stores among `names` that have a check and are down. */
export async function downStores(
  checks: StoreChecks,
  names: readonly string[],
  patience?: Patience,
): Promise<string[]> {
  const asked = Object.entries(checks).filter(([name]) => names.includes(name))
  const found = await problemsOf(Object.fromEntries(asked), patience)
  return found.flatMap(([name, problem]) => (problem === undefined ? [] : [name]))
}

/** The message without the path of the store: responses contain no folders of this machine. */
function publicDetail({ message, details }: AppError): string {
  const place = isObject(details) ? details['place'] : undefined
  return typeof place === 'string' ? message.replace(place, 'This store') : message
}

/** The response of `/ok`. With `checks` it lists each store, and has status 503 if one is down. */
export async function livenessReply(checks: StoreChecks | undefined): Promise<RouteReply<Liveness>> {
  if (checks === undefined) return { body: { ok: true } }
  const found = await problemsOf(checks, { ms: HEALTH_MS })
  const states = Object.fromEntries(found.map(([name, problem]) => [name, problem ? 'down' : 'up'] as const))
  const problems = found.flatMap(([name, problem]) =>
    problem === undefined ? [] : [[name, { code: problem.code, detail: publicDetail(problem) }] as const],
  )
  if (problems.length === 0) return { body: { ok: true, checks: states } }
  const body = { ok: false, checks: states, problems: Object.fromEntries(problems) }
  return { status: 503, headers: { 'retry-after': 1 }, body }
}

/**
 * The same checks, and a function that tells whether a store has answered one of them in the last 15 s. `now`:
 * milliseconds.
 */
export function noteAnswers(
  checks: StoreChecks,
  now: () => number,
): { checks: StoreChecks; answered(store: string): boolean } {
  const last = new Map<string, number>()
  const noted = Object.entries(checks).map(([store, check]) => {
    const act = async (): Promise<void> => {
      await check()
      last.set(store, now())
    }
    return [store, act] as const
  })
  const answered = (store: string): boolean =>
    now() - (last.get(store) ?? Number.NEGATIVE_INFINITY) < RECENT_MS
  return { checks: Object.fromEntries(noted), answered }
}

/** Runs the checks every ten seconds for the gauge `weir_store_up`; returns the function that stops it. */
export function watchStores({ checks, metrics }: { checks: StoreChecks; metrics: Metrics }): () => void {
  const up = metrics.gauge(
    'weir_store_up',
    '1 if the last check of a store, at most 10 s ago, succeeded, else 0, by store: clickhouse, sql, runs, redis, blobs for BLOB_URL, disk for the disk of DATA_DIR, attachments, which is 0 while a damaged one is known, and sweeps, which is 0 while one has failed three times in a row.',
  )
  const ask = async (): Promise<void> => {
    for (const [store, problem] of await problemsOf(checks, { ms: HEALTH_MS }))
      up.set(problem === undefined ? 1 : 0, { store })
  }
  void ask()
  const timer = setInterval(() => void ask(), EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
