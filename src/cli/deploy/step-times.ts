import type { ShownRevision } from './connection.ts'

/** Seconds of the steps of a revision, in tenths; the names are those that `weir deploy` prints. */
export interface StepTimes {
  /** Undefined for a step that the revision did not need or reach. */
  steps: Partial<Record<'read' | 'built' | 'started' | 'checked', number>>
  /** The sum of the displayed steps. */
  total: number
}

/** The times of a revision's steps. `deploy` covers `start` and all that follows it until the switch. */
export function stepTimes({ create, build, deploy, start }: ShownRevision['weir']['timings']): StepTimes {
  const tenths = {
    read: toTenths(create),
    built: toTenths(build),
    started: toTenths(start ?? deploy),
    checked: start === undefined || deploy === undefined ? undefined : toTenths(Math.max(0, deploy - start)),
  }
  const known = Object.entries(tenths).filter(([, value]) => value !== undefined)
  const total = known.reduce((sum, [, value = 0]) => sum + value, 0)
  return {
    steps: Object.fromEntries(known.map(([name, value = 0]) => [name, value / 10])),
    total: total / 10,
  }
}

function toTenths(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms / 100)
}

/** Formats seconds, such as `3.4 s`. */
export function secondsText(seconds: number): string {
  return `${seconds.toFixed(1)} s`
}
