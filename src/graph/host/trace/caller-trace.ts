import type { CallerTrace } from '../../../runs/model.ts'

type Fields = Record<string, unknown>

/** Where the TraceRuns of a run are recorded. */
export interface TracePlace {
  /** Name of the project; undefined for that of the deployment. */
  project: string | undefined
  /** Moves a TraceRun to its place. */
  move(record: Fields): Fields
  /** Moves the headers that tell another server about a TraceRun. */
  moveHeaders(headers: unknown): unknown
}

const OWN: TracePlace = { project: undefined, move: (record) => record, moveHeaders: (headers) => headers }

/** The place below a caller's TraceRun, for the run whose root has the id `root`; without a caller, where they are. */
export function placeIn(caller: CallerTrace | undefined, root: string): TracePlace {
  if (caller === undefined) return OWN
  const { trace_id, parent_run_id, dotted_order, project } = caller
  // Without the order of the parent, that of its children is found when the parent has arrived.
  const below = (order: unknown): string | undefined =>
    dotted_order !== undefined && typeof order === 'string' ? `${dotted_order}.${order}` : undefined
  return {
    project,
    move: (record) => ({
      ...record,
      trace_id,
      dotted_order: below(record['dotted_order']),
      ...(record['id'] === root && { parent_run_id }),
    }),
    moveHeaders(headers) {
      const sent = typeof headers === 'object' && headers !== null ? { ...headers } : {}
      const order = below(Reflect.get(sent, 'langsmith-trace'))
      return order === undefined ? sent : { ...sent, 'langsmith-trace': order }
    },
  }
}
