import type { Metrics } from '../../base/metrics.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { RouteReply } from '../api/route.ts'
import type { StoreChecks } from '../../base/background/store-checks.ts'
import { downStores } from './store-checks.ts'

/** Parts of a server that a load balancer can route separately, with the stores that each needs. */
const STORES = {
  /** Cached keys and projects work without SQL, and traces wait in the log for ClickHouse. */
  ingest: ['disk'],
  reads: ['clickhouse', 'sql'],
  runs: ['sql', 'runs', 'redis', 'disk'],
} as const

type Part = keyof typeof STORES

/**
 * Time limit of the checks. Kubernetes and HAProxy wait a second by default; with a longer limit they would remove
 * every server while a store does not answer. A store that has answered lately may be late: on a busy machine it is, and
 * a balancer that removes busy servers makes the others busier.
 */
const READY_MS = 750

/** The values of `part`. The default, `server`, is for a load balancer that does not route the parts separately. */
export const READY_PARTS: readonly ['server', ...Part[]] = ['server', 'ingest', 'reads', 'runs']

/** Whether this server is about to stop. */
export interface Drain {
  isDraining(): boolean
  /** Makes the server not ready from now on. */
  begin(): void
}

export function createDrain(metrics: Metrics): Drain {
  let draining = false
  metrics.observedGauge(
    'weir_draining',
    '1 while the server is not ready because it is about to stop, else 0.',
    () => (draining ? 1 : 0),
  )
  return {
    isDraining: () => draining,
    begin() {
      draining = true
    },
  }
}

/**
 * The response of `/ready`. A server that drains is not ready for anything. A part is ready while its stores answer.
 * The server is ready while one part is ready: all servers share the stores, so the outage of one store must not make
 * every server unavailable.
 */
export async function readinessReply(
  {
    checks,
    answered,
    drain,
  }: { checks: StoreChecks; answered(store: string): boolean; drain: Pick<Drain, 'isDraining'> },
  asked: (typeof READY_PARTS)[number],
): Promise<RouteReply<SchemaTypes['readiness']>> {
  const down = await downStores(checks, [...new Set(Object.values(STORES).flat())], {
    ms: READY_MS,
    mayBeLate: answered,
  })
  const stateOf = (part: Part): 'up' | 'down' =>
    STORES[part].some((store) => down.includes(store)) ? 'down' : 'up'
  const parts = { ingest: stateOf('ingest'), reads: stateOf('reads'), runs: stateOf('runs') }
  const draining = drain.isDraining()
  const works = asked === 'server' ? Object.values(parts).includes('up') : parts[asked] === 'up'
  const body = { ready: works && !draining, draining, parts }
  return body.ready ? { body } : { status: 503, headers: { 'retry-after': 1 }, body }
}
