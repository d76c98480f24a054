import { systemClock } from '../../base/clock.ts'
import { isLoopback } from '../../base/loopback.ts'
import type { Sealer } from '../../base/node/sealer.ts'
import type { Sweeps } from '../../base/background/sweeps.ts'
import type { Config } from '../../config.ts'
import type { AppDeps } from '../../http/platform/app-deps.ts'
import { createEventStreams } from '../../http/platform/reply/event-streams.ts'
import { createOwnTraces, type OwnTracesDeps } from '../../ingest/own-traces.ts'
import type { TraceStore } from '../../ingest/store/trace-store.ts'
import { createPricedModels } from '../../ingest/prices/priced-models.ts'
import { createLeftCalls } from '../../playground/left-calls.ts'
import { createPlayground, PROVIDERS } from '../../playground/playground.ts'
import { createWorkspaceSecrets, openSecret } from '../../playground/secrets.ts'
import { createVendorCaller } from '../../playground/vendor-call.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import { createWorkspaceSecretStore } from '../../storage/sql/secrets/workspace-secret-store.ts'
import type { Lanes } from '../../ingest/start-lanes.ts'
import { openSealer } from '../../hosting/secrets-key.ts'
import { pendingCalls, leftCallSweep } from './left-calls.ts'
import { startLargeBodies } from '../bodies.ts'

export interface PlaygroundInputs extends Omit<OwnTracesDeps, 'clock' | 'pausesMs'> {
  config: Config
  /** The SQL store, migrated. */
  database: Database
  /** The store in which traces of calls are searched. */
  store: Pick<TraceStore, 'list'>
  lanes: Pick<Lanes, 'read'>
  sweeps: Sweeps
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
}

/**
 * Maximum bytes of a request, including pictures and files as base64. Its trace has about the same size, which ingest
 * accepts.
 */
const MAX_BODY_BYTES = 20 << 20

/** Limits of the streams of calls, each of which may wait for its provider for minutes. */
const CALL_STREAMS = { at_once: 200, at_once_per_key: 20, max_unsent_bytes: 64 << 20 }

/**
 * Secrets of workspaces, and calls of model providers with them. @throws AppError secrets_unreadable when the key does
 * not decrypt the stored secrets
 */
export async function startPlayground(
  parts: PlaygroundInputs,
): Promise<Pick<AppDeps, 'secrets' | 'playground' | 'playgroundStreams' | 'pricedModels' | 'json_bodies'>> {
  const { config, database, lanes, stops } = parts
  const store = createWorkspaceSecretStore(database, systemClock)
  let opened: Promise<Sealer> | undefined
  const sealer = (): Promise<Sealer> => (opened ??= openSealer(config))
  const stored = await store.any()
  if (stored !== undefined) openSecret(stored, await sealer())
  const secrets = createWorkspaceSecrets({ store, sealer, usualHosts: usualHosts() })
  const traces = createOwnTraces({ ...parts, clock: systemClock })
  const playgroundStreams = createEventStreams(CALL_STREAMS)
  stops.defer(() => traces.flushed())
  const left = createLeftCalls({
    pending: pendingCalls(database, parts.store),
    traces,
    clock: systemClock,
  })
  const ending = parts.sweeps.start(leftCallSweep(left, parts.ingester, parts.logger))
  stops.defer(() => ending.stop())
  const vendor = createVendorCaller({ allowPrivate: mayCallPrivateAddresses(config) })
  return {
    secrets,
    playground: createPlayground({ secrets, vendor, traces, clock: systemClock }),
    playgroundStreams,
    pricedModels: createPricedModels(lanes.read),
    json_bodies: { max_bytes: MAX_BODY_BYTES, large: startLargeBodies(parts) },
  }
}

/**
 * Whether private addresses may be called. `auto` allows them if every client is on this machine, and can reach them
 * without the server.
 */
function mayCallPrivateAddresses({ playgroundPrivateAddresses: wanted, host, publicUrl }: Config): boolean {
  return wanted === 'on' || (wanted === 'auto' && isLoopback(host) && publicUrl === undefined)
}

function usualHosts(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    PROVIDERS.flatMap(({ secret, base_url }) =>
      base_url === undefined ? [] : [[secret, [new URL(base_url).host]] as const],
    ),
  )
}
