import { AppError } from '../base/errors.ts'
import type { Isolation, IsolationName } from './isolation/isolation.ts'

/** Whether a runtime can be used, and what it isolates deployed code from. */
export type Probe =
  | { ok: true; isolation: IsolationName; reason?: string | null }
  | { ok: false; reason: string }

/** What deployed graphs run in. */
export type RuntimeName = 'process' | 'container' | 'kubernetes'

/** A runtime as clients see it. */
export interface RuntimeReport {
  runtime: RuntimeName
  /** New revisions use it. */
  in_use: boolean
  usable: boolean
  isolation: string | null
  /** Why it cannot be used, or why its code is not isolated. */
  reason: string | null
}

/** The runtimes of a server. */
export interface Runtimes {
  /** That of DEPLOY_RUNTIME. */
  name: RuntimeName
  isolation: IsolationName
  /** @throws AppError container_runtime_unavailable before anything is uploaded (P-13) */
  assertUsable(): Promise<void>
  report(): Promise<RuntimeReport[]>
}

/** The runtimes; `name` selects one of them, and `probeContainer` looks for docker and podman. */
export function createRuntimes(
  name: 'process' | 'container',
  { name: isolation, reason }: Pick<Isolation, 'name' | 'reason'>,
  probeContainer: () => Promise<Probe>,
): Runtimes {
  const probes: Readonly<Record<RuntimeName, () => Promise<Probe>>> = {
    process: async () => ({ ok: true, isolation, reason }),
    container: probeContainer,
    kubernetes: async () => ({
      ok: false,
      reason: 'This version of Weir does not run graphs in Kubernetes.',
    }),
  }
  return {
    name,
    isolation,
    async assertUsable() {
      const found = await probes[name]()
      if (!found.ok) throw new AppError('container_runtime_unavailable', { message: found.reason })
    },
    report: () =>
      Promise.all(
        Object.entries(probes).map(async ([runtime, probe]): Promise<RuntimeReport> => {
          const found = await probe()
          const { reason = null } = found
          return {
            runtime: runtime as RuntimeName,
            in_use: runtime === name,
            usable: found.ok,
            isolation: found.ok ? found.isolation : null,
            reason,
          }
        }),
      ),
  }
}
