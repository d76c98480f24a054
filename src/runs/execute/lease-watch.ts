export interface SeenLease {
  token: string
  lease_until: number | null
}

/**
 * Finds leases that are no longer renewed. A lease counts as expired if it has not changed for its duration, measured
 * by the monotonic clock of this process. The time of day is not used: the clocks of servers differ and are sometimes
 * set.
 */
export interface LeaseWatch {
  /** Receives all current leases; returns the tokens of those that have not changed for the duration of a lease. */
  look(leases: readonly SeenLease[]): ReadonlySet<string>
}

/** `steady` returns milliseconds and never decreases. */
export function createLeaseWatch(
  leaseMs: number,
  steady: () => number = () => performance.now(),
): LeaseWatch {
  let seen = new Map<string, { until: number | null; since: number }>()
  let lastLook = Number.NEGATIVE_INFINITY
  return {
    look(leases) {
      const now = steady()
      // This is called every third of a lease. A longer interval means that the database was not reachable. Then no
      // lease could be renewed, and the owner of an unchanged lease may still be running.
      const before = now - lastLook > leaseMs / 2 ? new Map<string, never>() : seen
      lastLook = now
      seen = new Map(
        leases.map(({ token, lease_until }) => {
          const known = before.get(token)
          return [token, known?.until === lease_until ? known : { until: lease_until, since: now }]
        }),
      )
      return new Set([...seen].flatMap(([token, { since }]) => (now - since >= leaseMs ? [token] : [])))
    },
  }
}
