import { AppError } from '../base/errors.ts'
import type { Isolation, IsolationName } from './isolation/isolation.ts'

/** Whether a runtime can be used, and its isolation of deployed code. */
export type Probe =
  | { ok: true; isolation: IsolationName; reason?: string | null }
  | { ok: false; reason: string }

export type RuntimeName = 'process' | 'container' | 'kubernetes'

/** A runtime in the form of the API. */
export interface RuntimeReport {
  runtime: RuntimeName
  in_use: boolean
  usable: boolean
  isolation: string | null
  /** Why the runtime cannot be used, or why its code is not isolated. */
  reason: string | null
  /** Why it cannot build projects that need uv; null if it can. */
  uv_fault: string | null
}

export interface Runtimes {
  name: RuntimeName
  isolation: IsolationName
  /** @throws AppError container_runtime_unavailable before anything is uploaded (P-13) */
  assertUsable(): Promise<void>
  report(): Promise<RuntimeReport[]>
}

export interface IsolationInUse {
  name: IsolationName
  /** Reads the current isolation, since containers may fail or recover while the server runs. */
  look(): Promise<Pick<Isolation, 'name' | 'reason'>>
}

/**
 * The runtimes; `name` selects one of them. `probeContainer` looks for docker and podman if they are not in use, and
 * `uvFault` for uv.
 */
export function createRuntimes(
  name: 'process' | 'container',
  isolation: IsolationInUse,
  probeContainer: () => Promise<Probe>,
  uvFault: () => Promise<string | null>,
): Runtimes {
  const inUse = async (): Promise<Probe> => {
    const { name: found, reason } = await isolation.look()
    return found === 'container' && reason !== null
      ? { ok: false, reason }
      : { ok: true, isolation: found, reason }
  }
  const probes: Readonly<Record<RuntimeName, () => Promise<Probe>>> = {
    process: name === 'process' ? inUse : async () => ({ ok: true, isolation: 'none' }),
    container: name === 'container' ? inUse : probeContainer,
    kubernetes: async () => ({
      ok: false,
      reason: 'This version of Weir does not run graphs in Kubernetes.',
    }),
  }
  return {
    name,
    isolation: isolation.name,
    async assertUsable() {
      const found = await probes[name]()
      if (!found.ok) throw new AppError('container_runtime_unavailable', { message: found.reason })
    },
    async report() {
      const uv_fault = await uvFault()
      return await Promise.all(
        Object.entries(probes).map(async ([runtime, probe]): Promise<RuntimeReport> => {
          const found = await probe()
          const { reason = null } = found
          return {
            runtime: runtime as RuntimeName,
            in_use: runtime === name,
            usable: found.ok,
            isolation: found.ok ? found.isolation : null,
            reason,
            uv_fault,
          }
        }),
      )
    },
  }
}
