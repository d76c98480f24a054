import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NIL_UUID } from '../../src/base/ids.ts'
import type { CountedTrace } from '../../src/usage/counting/counted-trace.ts'
import { formatDottedOrder } from '../../src/trace/derive/lineage/dotted-order.ts'
import { emptyFragment, RANK, writeFragment } from '../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../src/trace/rows/row-binary.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type Counted, runWorld } from '../support/usage/world.ts'
import { tries } from '../support/properties.ts'

const WORKSPACE = '0195f3a0-0000-7000-8000-0000000000aa'
const HOUR = 3_600_000
const T0 = Date.UTC(2026, 2, 1)
const uuid = (kind: string, n: number): string =>
  `00000000-0000-7000-800${kind}-${String(n).padStart(12, '0')}`

/** Which of the fields about the place of a TraceRun a client sends. */
type Placing = 'all' | 'parent' | 'nothing'

interface Operation {
  traceRun: number
  rank: number
  placing: Placing
  has_start: boolean
  has_project: boolean
  received_at: number
  /** The client that sends the operation, and the project if it names one. */
  sender: number
  project: number
}

interface Node {
  /** Index of the node's parent among the nodes before it; undefined for a root. */
  parent: number | undefined
  start: number
}

interface Scenario {
  nodes: Node[]
  operations: Operation[]
}

const idOf = (n: number): string => uuid('1', n)
const rootOf = (nodes: readonly Node[], n: number): number => {
  const { parent } = nodes[n]!
  return parent === undefined ? n : rootOf(nodes, parent)
}

function lineOf(nodes: readonly Node[], n: number): number[] {
  const { parent } = nodes[n]!
  return parent === undefined ? [n] : [...lineOf(nodes, parent), n]
}

/**
 * A forest of TraceRuns, and the operations in which they are sent. The operations never contradict each other, but are
 * often incomplete.
 */
const scenario: fc.Arbitrary<Scenario> = fc
  .tuple(
    fc.array(fc.record({ above: fc.nat(3), hours: fc.nat(30) }), { minLength: 1, maxLength: 9 }),
    fc.array(
      fc.record({
        traceRun: fc.nat(8),
        isCreate: fc.boolean(),
        placing: fc.constantFrom<Placing>('all', 'parent', 'parent', 'nothing'),
        has_start: fc.boolean(),
        has_project: fc.boolean(),
        received: fc.nat(2000),
        sender: fc.nat(3),
        project: fc.nat(3),
      }),
      { minLength: 1, maxLength: 24 },
    ),
  )
  .map(([shapes, sent]) => {
    const nodes = shapes.map(({ above, hours }, n): Node => {
      const parent = n - above
      return { parent: above === 0 || parent < 0 ? undefined : parent, start: T0 + hours * 13 * 60_000 }
    })
    const operations = sent.map(({ traceRun, isCreate, placing, received, ...rest }, i): Operation => {
      // A create without parent and trace makes a root, so the create of a node that is not a root names its parent.
      const n = traceRun % nodes.length
      const needsParent = isCreate && placing === 'nothing' && nodes[n]!.parent !== undefined
      return {
        ...rest,
        traceRun: n,
        rank: isCreate ? RANK.create : RANK.update,
        placing: needsParent ? 'parent' : placing,
        has_start: isCreate || rest.has_start,
        has_project: isCreate || rest.has_project,
        // Two senders never send in the same millisecond, because the stored data would not show which was first.
        received_at: T0 + 40 * HOUR + received * 32 + i,
      }
    })
    return { nodes, operations }
  })

function encode(nodes: readonly Node[], operations: readonly Operation[]): Uint8Array {
  const out = new RowWriter()
  for (const operation of operations) {
    const { traceRun, rank, received_at, sender, project } = operation
    const { parent, start } = nodes[traceRun]!
    const head: Record<string, unknown> = {}
    if (operation.rank === RANK.create) head['name'] = 'step'
    if (operation.has_start) head['start_time'] = new Date(start).toISOString()
    if (operation.has_project) head['session_id'] = uuid('2', project)
    if (operation.placing !== 'nothing' && parent !== undefined) head['parent_run_id'] = idOf(parent)
    if (operation.placing === 'all') {
      head['trace_id'] = idOf(rootOf(nodes, traceRun))
      const segments = lineOf(nodes, traceRun).map((n) => ({ time: nodes[n]!.start * 1000, id: idOf(n) }))
      head['dotted_order'] = formatDottedOrder(segments)
    }
    writeFragment(out, {
      ...emptyFragment(WORKSPACE, idOf(traceRun), rank, received_at),
      project_id: operation.has_project ? uuid('2', project) : NIL_UUID,
      user_id: uuid('3', sender),
      api_key_id: uuid('4', sender),
      head: Buffer.from(JSON.stringify(head)),
    })
  }
  return out.finish()
}

/** All operations are stored at once by one process, so that nothing is counted provisionally. */
function atOnce({ nodes, operations }: Scenario): Promise<Counted> {
  return runWorld({ seed: 1, processes: [[encode(nodes, operations)]], deaths: 0 })
}

/** Each operation is stored up to three times, in any order, split into batches, distributed over processes. */
function scattered({ nodes, operations }: Scenario, seed: number, processes: number, deaths: number) {
  const random = seededRandom(seed)
  const sent = operations.flatMap((operation) =>
    Array.from({ length: 1 + Math.floor(random() * 2.4) }, (_, copy) => ({
      operation: { ...operation, received_at: operation.received_at + copy * 32 * Math.floor(random() * 50) },
      order: random(),
    })),
  )
  const lists: Uint8Array[][] = Array.from({ length: processes }, () => [])
  let batch: Operation[] = []
  for (const { operation } of sent.toSorted((a, b) => a.order - b.order)) {
    batch.push(operation)
    if (random() < 0.5) {
      lists[Math.floor(random() * processes)]!.push(encode(nodes, batch))
      batch = []
    }
  }
  if (batch.length > 0) lists[0]!.push(encode(nodes, batch))
  return runWorld({ seed, processes: lists, deaths })
}

const attribution = ({ trace_id, hour, start, project_id, user_id, api_key_id }: CountedTrace) =>
  [trace_id, hour, start, project_id, user_id, api_key_id].join(' ')
const shown = ({ traces }: Counted): string[] => [...traces.values()].map(attribution).toSorted()

describe('usage', () => {
  it('USAGE-13, D-12, D-30: is the same for any order, batches and repetitions of operations, and any kills', async () => {
    await fc.assert(
      fc.asyncProperty(
        scenario,
        fc.integer(),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(3),
        async (said, seed, processes, deaths) => {
          const want = await atOnce(said)
          const got = await scattered(said, seed, processes, deaths)
          expect(got.doubles).toEqual([])
          expect(shown(got)).toEqual(shown(want))
        },
      ),
      tries(150),
    )
  })

  it('USAGE: finds the trace of a child whose parent reaches another process at the same moment', async () => {
    const nodes: Node[] = [undefined, 0, 1].map((parent) => ({ parent, start: T0 }))
    const create = (traceRun: number, placing: Placing): Operation => ({
      traceRun,
      rank: RANK.create,
      placing,
      has_start: true,
      has_project: true,
      received_at: T0 + traceRun,
      sender: 0,
      project: 0,
    })
    const above = encode(nodes, [create(0, 'all'), create(1, 'all')])
    const child = encode(nodes, [create(2, 'parent')])
    for (let seed = 0; seed < 300; seed++) {
      const { traces } = await runWorld({ seed, processes: [[child], [above]], deaths: 0 })
      expect([...traces.values()].map(({ trace_id }) => trace_id)).toEqual([idOf(0)])
    }
  })
})
