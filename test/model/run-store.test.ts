import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Lease } from '../../src/runs/run-store.ts'
import { createRunStore } from '../../src/storage/sql/runs/run-store.ts'
import { TENANT } from '../support/runs/run-store.ts'
import { apply, type Drawn, resolve, steps, THREADS, type World } from '../support/runs/model-commands.ts'
import {
  applyToModel,
  emptyModel,
  type LookingCommand,
  type ModelCommand,
  type ModelState,
  threadsFor,
  viewOfModel,
} from '../support/runs/reference-model.ts'
import { describeOnSql, type SqlEngine } from '../support/stores/sql/sql-databases.ts'
import { tries } from '../support/properties.ts'
import { testClock } from '../support/faults/test-clock.ts'

/**
 * State that no response shows yet, but that later responses depend on. Without it, more than one order could explain a
 * step.
 */
async function kept(
  { database }: World,
  id: string,
): Promise<{ rest: unknown; hasNext: boolean; cancels: string[] }> {
  const [thread] = await database.query<{ rest_status: string; has_next: number }>(
    'SELECT rest_status, has_next FROM threads WHERE thread_id = ?',
    [id],
  )
  const runs = await database.query<{ run_id: string; cancel_action: string }>(
    'SELECT run_id, cancel_action FROM runs WHERE thread_id = ? AND cancel_action IS NOT NULL ORDER BY run_id',
    [id],
  )
  return {
    rest: thread?.rest_status,
    hasNext: thread?.has_next === 1,
    cancels: runs.map(({ run_id, cancel_action }) => `${run_id} ${cancel_action}`),
  }
}

async function viewOf(world: World): Promise<unknown> {
  const {
    database,
    stores: [store],
  } = world
  const view: Record<string, unknown> = { nextDue: await store?.nextDue() }
  for (const id of THREADS) {
    const thread = await store?.getThread(TENANT, id)
    if (thread === undefined) continue
    const runs = (await store?.listRuns(TENANT, id, { limit: 100, offset: 0 }))?.runs ?? []
    const [row] = await database.query<{ count: number }>(
      'SELECT count(*) AS count FROM checkpoints WHERE thread_id = ?',
      [id],
    )
    view[id] = {
      ...(await kept(world, id)),
      status: thread.status,
      values: thread.values_json,
      runs: runs.map((run) => `${run.run_id} ${run.status} ${run.attempt}`),
      checkpoints: row?.count,
    }
  }
  return view
}

function* permutations<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) yield []
  for (const [index, item] of items.entries()) {
    for (const rest of permutations(items.toSpliced(index, 1))) yield [item, ...rest]
  }
}

interface Done {
  command: ModelCommand
  answer: unknown
}

function isLooking(command: ModelCommand): command is LookingCommand {
  return command.verb === 'claim' || command.verb === 'cancelAll'
}

/**
 * The moments at which a command takes effect: one. Commands that first look for threads have two: the search, and the
 * work.
 */
function momentsOf(done: Done): Done[] {
  return isLooking(done.command) ? [done, done] : [done]
}

/** True when the model returns the same results in this order. */
function fits(state: ModelState, order: readonly Done[]): boolean {
  const looked = new Map<Done, string[]>()
  return order.every((done) => {
    const { command, answer } = done
    if (!isLooking(command)) return equals(applyToModel(state, command), answer)
    const among = looked.get(done)
    if (among === undefined) return looked.set(done, threadsFor(state, command))
    return equals(applyToModel(state, { ...command, among }), answer)
  })
}

/**
 * The state of the model after the commands, in an order that gives the same results; undefined when there is no such
 * order.
 */
function explain(state: ModelState, done: readonly Done[], view: unknown): ModelState | undefined {
  for (const order of permutations(done.flatMap(momentsOf))) {
    const after = structuredClone(state)
    if (fits(after, order) && equals(viewOfModel(after), view)) return after
  }
  return undefined
}

function equals(a: unknown, b: unknown): boolean {
  try {
    expect(a).toEqual(b)
    return true
  } catch {
    return false
  }
}

async function step(world: World, ms: number, drawnCommands: readonly Drawn[]): Promise<void> {
  world.state.now += ms
  const before = structuredClone(world.state)
  const commands = drawnCommands.map((command) => resolve(world, command))
  const claimed: Lease[] = []
  const answers = await Promise.all(
    commands.map(async (command, n) => {
      const store = world.stores[n % world.stores.length]
      return store && (await apply(world, store, command, claimed))
    }),
  )
  const done = commands.map((command, n) => ({ command, answer: answers[n] }))
  const view = await viewOf(world)
  const after = explain(before, done, view)
  if (after === undefined) {
    const inTurn = structuredClone(before)
    const expected = commands.map((command) => applyToModel(inTurn, command))
    expect({ commands, answers, view }, 'no order of these commands explains the answers').toEqual({
      commands,
      answers: expected,
      view: viewOfModel(inTurn),
    })
    throw new Error('the order matters to the clone only')
  }
  world.state = after
  for (const { run_id, thread_id: id, token, workspace_id, deployment_id } of claimed) {
    const model = { run_id, claim: after.claims[run_id] ?? 0 }
    world.leases.push({ model, real: { run_id, thread_id: id, token, workspace_id, deployment_id } })
  }
}

const TABLES = ['threads', 'thread_states', 'runs', 'checkpoints', 'checkpoint_blobs', 'checkpoint_writes']

async function openWorld(engine: SqlEngine): Promise<() => Promise<World>> {
  const database = await engine.openRuns()
  const other = await engine.openAgain()
  return async () => {
    for (const table of TABLES) await database.query(`DELETE FROM ${table}`)
    const world: World = { database, stores: [], state: emptyModel(1_700_000_000_000), leases: [] }
    world.stores = [database, other].map((each) =>
      createRunStore(
        each,
        testClock(() => world.state.now),
      ),
    )
    return world
  }
}

describeOnSql('the run store', (engine) => {
  const numRuns = engine.name === 'SQLite' ? 100 : 10
  it('RUN-6: returns the same as the reference model in some order, for any concurrent commands', async () => {
    const fresh = await openWorld(engine)
    const property = fc.asyncProperty(steps, async (program) => {
      const world = await fresh()
      for (const { ms, commands } of program) await step(world, ms, commands)
    })
    await fc.assert(property, tries(numRuns))
  })
})
