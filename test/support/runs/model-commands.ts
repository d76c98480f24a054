import fc from 'fast-check'
import type { Lease, RunStore } from '../../../src/runs/run-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { addCheckpoint, admissionOf, CLAIMER, TENANT } from './run-store.ts'
import {
  ADMIT_OWNER,
  LEASE_MS,
  type ModelCommand,
  type ModelLease,
  type ModelState,
} from './reference-model.ts'

export const THREADS = ['a', 'b', 'c']
const RUN_IDS = Array.from({ length: 8 }, (_, n) => `run-${n}`)
const OWNERS = ['owner-1', 'owner-2']

const thread_id = fc.constantFrom(...THREADS)
const run_id = fc.constantFrom(...RUN_IDS)
const action = fc.constantFrom('interrupt' as const, 'rollback' as const)
/** Selects one of the leases that are known when the command runs: usually the latest. */
const pick = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(20))
const values = fc.option(fc.constantFrom('{"n":1}', '{"n":2}'), { nil: undefined, freq: 1 })
const strategy = fc.constantFrom(
  'enqueue' as const,
  'reject' as const,
  'interrupt' as const,
  'rollback' as const,
)
const delay = fc.constantFrom(0, 0, 0, 300, 900)
const status = fc.constantFrom(
  'success' as const,
  'error' as const,
  'timeout' as const,
  'interrupted' as const,
)
const verb = <V extends string>(name: V) => fc.constant(name)

const drawn = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      verb: verb('admit'),
      run_id,
      thread_id,
      strategy,
      delay,
      claim: fc.boolean(),
      create: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      verb: verb('claim'),
      owner: fc.constantFrom(...OWNERS),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ verb: verb('write'), pick }) },
  { weight: 6, arbitrary: fc.record({ verb: verb('finish'), pick, status, next: fc.boolean(), values }) },
  { weight: 2, arbitrary: fc.record({ verb: verb('rollback'), pick }) },
  { weight: 2, arbitrary: fc.record({ verb: verb('release'), pick, max: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ verb: verb('renew'), picks: fc.array(pick, { maxLength: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: verb('recover'),
      owner: fc.constantFrom(...OWNERS, ADMIT_OWNER),
      max: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      verb: verb('cancel'),
      thread_id,
      run_ids: fc.uniqueArray(run_id, { maxLength: 3 }),
      action,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: verb('cancelAll'),
      status: fc.constantFrom('pending' as const, 'running' as const, 'all' as const),
      action,
    }),
  },
  { weight: 2, arbitrary: fc.record({ verb: verb('deleteRun'), thread_id, run_id }) },
  { weight: 1, arbitrary: fc.record({ verb: verb('deleteThread'), thread_id }) },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: verb('update'),
      thread_id,
      values: fc.constant('{"n":3}'),
      next: fc.boolean(),
    }),
  },
)
/** A command that refers to leases by number. */
export type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** The owner that gets the run if the command claims one; undefined for commands that claim none. */
function takerOf(command: Drawn): string | undefined {
  if (command.verb === 'claim') return command.owner
  return command.verb === 'admit' && command.claim ? ADMIT_OWNER : undefined
}

/**
 * Removes recoveries of owners that also claim in the same step. The port requires that a server recovers its runs
 * before its first claim, so the two never happen at the same time.
 */
function recoveredFirst(commands: Drawn[]): Drawn[] {
  const takers = new Set(commands.map(takerOf))
  return commands.filter((command) => command.verb !== 'recover' || !takers.has(command.owner))
}

/** The steps of a test, with time between them. The commands of one step run concurrently. */
export const steps = fc.array(
  fc.record({
    ms: fc.constantFrom(0, 1, 1, 100, 400),
    commands: fc.array(drawn, { minLength: 1, maxLength: 3 }).map(recoveredFirst),
  }),
  { minLength: 10, maxLength: 50 },
)

/** A store under test, with the leases known so far. */
export interface World {
  database: Database
  stores: RunStore[]
  state: ModelState
  leases: { model: ModelLease; real: Lease }[]
}

/** The drawn command, with each drawn number (`pick`) replaced by a lease of the world. */
export function resolve(world: World, command: Drawn): ModelCommand {
  const leaseAt = (n: number): ModelLease =>
    world.leases.at(-1 - (n % Math.max(world.leases.length, 1)))?.model ?? { run_id: 'none', claim: 0 }
  if ('picks' in command) {
    const leases = command.picks.map(leaseAt)
    return { verb: command.verb, leases: leases.filter((lease, n) => leases.indexOf(lease) === n) }
  }
  if (!('pick' in command)) return command
  const { pick: n, ...rest } = command
  return { ...rest, lease: leaseAt(n) }
}

function realOf(world: World, lease: ModelLease): Lease {
  const known = world.leases.find(({ model }) => model === lease)
  return known?.real ?? { ...TENANT, run_id: lease.run_id, thread_id: 'a', token: 'none' }
}

/** Writes a checkpoint as a worker does: only while it holds the run's lease. */
async function write(world: World, lease: Lease): Promise<unknown> {
  return await world.database.tx(
    `thread:${lease.thread_id}/${lease.deployment_id}/${lease.workspace_id}`,
    async (session) => {
      const held = await session.query(
        `SELECT run_id FROM runs WHERE run_id = ? AND lease_token = ? AND status = 'running'
        ${world.database.dialect === 'postgres' ? 'FOR SHARE' : ''}`,
        [lease.run_id, lease.token],
      )
      if (held.length === 0) return { kind: 'lost' }
      await addCheckpoint(session, lease, crypto.randomUUID())
      return true
    },
  )
}

async function admit(store: RunStore, command: ModelCommand & { verb: 'admit' }, claimed: Lease[]) {
  const { claim, create, delay: delay_ms } = command
  const answer = await store.admit(
    TENANT,
    admissionOf(command.thread_id, {
      run: { run_id: command.run_id },
      multitask_strategy: command.strategy,
      delay_ms,
      if_not_exists: create ? 'create' : 'reject',
      claim: claim ? { ...CLAIMER, owner: ADMIT_OWNER, lease_ms: LEASE_MS } : null,
    }),
  )
  if (answer.kind === 'known') return { kind: answer.kind, status: answer.run.status }
  if (answer.kind === 'refused') return answer
  if (answer.claim !== null) claimed.push(answer.claim)
  return {
    kind: answer.kind,
    status: answer.run.status,
    ended: answer.ended.map((run) => run.run_id),
    cancelling: answer.cancelling.map((order) => [order.run_id, order.action]),
  }
}

/** Executes a command on a store; returns the value that the model returns. */
export async function apply(
  world: World,
  store: RunStore,
  command: ModelCommand,
  claimed: Lease[],
): Promise<unknown> {
  switch (command.verb) {
    case 'tick':
      return undefined
    case 'admit':
      return await admit(store, command, claimed)
    case 'claim': {
      const claims = await store.claim(
        { ...CLAIMER, owner: command.owner, lease_ms: LEASE_MS },
        [TENANT.deployment_id],
        command.limit,
      )
      claimed.push(...claims)
      return claims.map(({ run }) => `${run.run_id} ${run.attempt}`)
    }
    case 'write':
      return await write(world, realOf(world, command.lease))
    case 'finish': {
      const { values: values_json, next } = command
      return await store.finish(realOf(world, command.lease), {
        status: command.status,
        error: { error: 'E', message: 'm' },
        partial_messages: null,
        state:
          values_json === undefined ? undefined : { values_json, next: next ? ['n'] : [], interrupts: {} },
      })
    }
    case 'rollback':
      return await store.rollback(realOf(world, command.lease))
    case 'release':
      return await store.release(realOf(world, command.lease), { error: 'E', message: 'm' }, command.max)
    case 'renew': {
      const { lost, cancel } = await store.renew(
        command.leases.map((lease) => realOf(world, lease)),
        LEASE_MS,
      )
      const orders = new Map(cancel.map((order) => [order.run_id, `${order.run_id} ${order.action}`]))
      const ids = new Set(command.leases.map(({ run_id }) => run_id))
      return { lost, cancel: [...ids].flatMap((run_id) => orders.get(run_id) ?? []) }
    }
    case 'recover':
      return (await store.recover(command.owner, command.max))
        .map((run) => `${run.run_id} ${run.status}`)
        .sort()
    case 'cancel': {
      const results = await store.requestCancel(TENANT, command, command.action)
      return results
        .filter(({ outcome }) => outcome !== 'not_found')
        .map((result) => `${result.run_id} ${result.outcome}`)
        .sort()
    }
    case 'cancelAll': {
      const results = await store.requestCancel(TENANT, { status: command.status }, command.action)
      return results.map((result) => `${result.run_id} ${result.outcome}`).sort()
    }
    case 'deleteRun':
      return await store.deleteRun(TENANT, command.thread_id, command.run_id)
    case 'deleteThread':
      return await store.deleteThreads(TENANT, [command.thread_id], 'nothing')
    case 'update': {
      const state = { values_json: command.values, next: command.next ? ['n'] : [], interrupts: {} }
      return (await store.updateThread(TENANT, command.thread_id, { state })) !== undefined
    }
  }
}
