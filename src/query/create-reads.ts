import type { Clock } from '../base/clock.ts'
import { createTraceReads, type TraceReadsDeps } from './create-trace-reads.ts'
import { createReadSteps, type ReadStepsDeps } from './steps.ts'
import { createSelectedReads, type LinkSource, type SelectedReads } from './selected-reads.ts'
import { createThreadReads } from './threads/create-thread-reads.ts'
import type { ThreadReads } from './threads/thread-reads.ts'
import type { TraceReads } from './trace-reads.ts'

/** Creates all reads of traces of one server, which share the limits of memory and of concurrent queries. */
export function createReads(
  stored: ReadStepsDeps,
  others: Omit<TraceReadsDeps, 'steps'> & { clock: Clock; links: LinkSource },
): { reads: TraceReads; selectedReads: SelectedReads; threadReads: ThreadReads } {
  const steps = createReadSteps(stored)
  return {
    reads: createTraceReads({ ...others, steps }),
    selectedReads: createSelectedReads(steps, others.links, others.clock),
    threadReads: createThreadReads(steps, others.clock),
  }
}
