import { randomUUID } from 'node:crypto'
import type { RunKwargs, Tenant } from '../../../src/runs/model.ts'
import type { RunAdmission, Claim, Claimer, Lease, RunEnd, RunStore } from '../../../src/runs/run-store.ts'
import type { SqlSession } from '../../../src/storage/sql/driver/database.ts'

export const TENANT: Tenant = { workspace_id: randomUUID(), deployment_id: randomUUID() }

export const CLAIMER: Claimer = { owner: 'owner-1', lease_ms: 10_000, traced: true }

/** The kwargs of a run whose creation has only an input. */
export const RUN_KWARGS: RunKwargs = {
  input: { messages: [{ role: 'user', content: 'hi' }] },
  command: null,
  config: {},
  context: {},
  stream_mode: ['values'],
  subgraphs: false,
  resumable: false,
  temporary: false,
  interrupt_before: null,
  interrupt_after: null,
  checkpoint: null,
  durability: 'async',
  webhook: null,
  on_completion: 'delete',
}

/**
 * The admission of a run of `thread_id`: the run waits, and nobody has claimed it. The thread is created if it does not
 * exist.
 */
export function admissionOf(
  thread_id: string,
  change: Partial<Omit<RunAdmission, 'run'>> & { run?: Partial<RunAdmission['run']> } = {},
): RunAdmission {
  const { run, ...rest } = change
  return {
    run: {
      run_id: randomUUID(),
      thread_id,
      assistant_id: 'assistant',
      graph_id: 'agent',
      metadata: { of: 'run' },
      kwargs: RUN_KWARGS,
      caller: { user_id: null, api_key_id: 'key' },
      ...run,
    },
    multitask_strategy: 'enqueue',
    delay_ms: 0,
    if_not_exists: 'create',
    thread_metadata: {},
    thread_config: {},
    claim: null,
    ...rest,
  }
}

/** The end of a run with the state `values`. */
export function endOf(status: RunEnd['status'], values: unknown = { n: 1 }, next: string[] = []): RunEnd {
  const failed = status === 'error' || status === 'timeout'
  return {
    status,
    error: failed ? { error: 'Error', message: 'broken' } : null,
    partial_messages: null,
    state: { values_json: JSON.stringify(values), next, interrupts: next.length > 0 ? { task: [] } : {} },
  }
}

/** Admits a run; fails if it is not admitted. */
export async function admitted(store: RunStore, admission: RunAdmission, tenant = TENANT) {
  const answer = await store.admit(tenant, admission)
  if (answer.kind !== 'created') throw new Error(`not created: ${JSON.stringify(answer)}`)
  return answer
}

/** Admits a run; fails if it is not claimed at once. */
export async function started(store: RunStore, thread_id: string, tenant = TENANT): Promise<Claim> {
  const { claim } = await admitted(store, admissionOf(thread_id, { claim: CLAIMER }), tenant)
  if (claim === null) throw new Error('the thread is not free')
  return claim
}

/** Claims one run; fails if there is none. */
export async function claimedOne(store: RunStore, tenant = TENANT): Promise<Claim> {
  const [claim] = await store.claim(CLAIMER, [tenant.deployment_id], 1)
  if (claim === undefined) throw new Error('nothing to claim')
  return claim
}

/** Stores a checkpoint with a value and a write, as the run's worker would. */
export async function addCheckpoint(session: SqlSession, lease: Lease, checkpoint_id: string): Promise<void> {
  const { workspace_id, deployment_id, thread_id, run_id } = lease
  const key = { workspace_id, deployment_id, thread_id, run_id, checkpoint_ns: '', checkpoint_id }
  const rows = {
    checkpoints: { ...key, checkpoint: '{}', refs: `{"n":"${checkpoint_id}"}`, metadata: '{}' },
    checkpoint_blobs: { ...key, channel: 'n', version: '1', type: 'json', value: '1' },
    checkpoint_writes: {
      ...key,
      task_id: 't',
      idx: 0,
      written_at: 1,
      channel: 'n',
      type: 'json',
      value: '1',
    },
  }
  for (const [table, row] of Object.entries(rows)) {
    const names = Object.keys(row)
    const places = names.map(() => '?').join(', ')
    await session.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`, Object.values(row))
  }
}

export async function countCheckpointRows(session: SqlSession, thread_id: string): Promise<number> {
  let count = 0
  for (const table of ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes']) {
    const sql = `SELECT count(*) AS count FROM ${table} WHERE thread_id = ?`
    count += (await session.query<{ count: number }>(sql, [thread_id]))[0]?.count ?? 0
  }
  return count
}
