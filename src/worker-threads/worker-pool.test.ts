import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { createLogger } from '../base/log.ts'
import { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'
import { inLong } from '../../test/support/length.ts'
import { newFolder } from '../../test/support/folder.ts'

const ENTRY = new URL('../../test/support/task-worker.ts', import.meta.url)
const pools: WorkerPool[] = []

function openPool(options: Partial<WorkerPoolOptions> = {}): WorkerPool {
  const logger = createLogger({ level: 'silent' })
  const pool = createWorkerPool({ entry: ENTRY, size: 1, name: 'test', logger, ...options })
  pools.push(pool)
  return pool
}

/** Index 0 opens the gate, index 1 counts the threads that wait at it. */
function makeGate(): { gate: SharedArrayBuffer; open(): void; reached(threads: number): Promise<void> } {
  const gate = new SharedArrayBuffer(8)
  const view = new Int32Array(gate)
  return {
    gate,
    open: () => {
      Atomics.store(view, 0, 1)
      Atomics.notify(view, 0)
    },
    reached: async (threads) => {
      for (let seen = Atomics.load(view, 1); seen < threads; seen = Atomics.load(view, 1)) {
        const waiting = Atomics.waitAsync(view, 1, seen)
        if (waiting.async) await waiting.value
      }
    },
  }
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

describe('a worker pool', () => {
  it('runs named tasks and passes workerData to its threads', async () => {
    const pool = openPool({ workerData: { answer: 42 } })
    expect(await pool.run({ name: 'echo', input: { a: [1, 'b'] } })).toEqual({ a: [1, 'b'] })
    expect(await pool.run({ name: 'data', input: null })).toEqual({ answer: 42 })
  })

  inLong(() => {
    it('ends an idle thread and starts another when there is work', async () => {
      const pool = openPool({ idleMs: 1 })
      const thread = (): Promise<number> => pool.run({ name: 'thread', input: null })
      const first = await thread()
      await eventually(async () => expect(await thread()).not.toBe(first))
    })
  })

  it('transfers buffers in both directions', async () => {
    const bytes = new Uint8Array([1, 2, 3])
    const task = { name: 'bytes', input: bytes, transfer: [bytes.buffer] }
    expect(await openPool().run<Uint8Array>(task)).toEqual(new Uint8Array([2, 3, 4]))
    expect(bytes.byteLength).toBe(0)
  })

  it('transfers an AppError with code, message and details', async () => {
    const pool = openPool()
    await expect(pool.run({ name: 'refuse', input: null })).rejects.toMatchObject({
      name: 'AppError',
      code: 'invalid_field',
      message: 'no such field',
      details: { field: 'a' },
    })
    await expect(pool.run({ name: 'uncloneable', input: null })).rejects.toMatchObject({
      code: 'invalid_field',
      details: undefined,
    })
  })

  it('turns a bug in a task, an unknown task and a reply that cannot be cloned into internal errors', async () => {
    const pool = openPool()
    await expect(pool.run({ name: 'fail', input: null })).rejects.toMatchObject({
      code: 'internal',
      cause: { message: 'a bug', stack: expect.stringContaining('task-worker') },
    })
    for (const name of ['nothing', 'toString', 'reply_uncloneable']) {
      await expect(pool.run({ name, input: null })).rejects.toMatchObject({ code: 'internal' })
    }
    await expect(pool.run({ name: 'echo', input: () => {} })).rejects.toMatchObject({ code: 'internal' })
    expect(await pool.run({ name: 'echo', input: 'alive' })).toBe('alive')
  })

  it('uses all threads, sends each of them one task ahead, and queues the rest', async () => {
    const pool = openPool({ size: 2 })
    const { gate, open, reached } = makeGate()
    const held = [1, 2].map(() => pool.run({ name: 'hold', input: { gate } }))
    await reached(2)
    const later = [1, 2, 3].map((number) => pool.run({ name: 'echo', input: number }))
    expect([pool.running, pool.queued]).toEqual([4, 1])
    open()
    expect(await Promise.all([...held, ...later])).toEqual(['released', 'released', 1, 2, 3])
    expect([pool.running, pool.queued]).toEqual([0, 0])
  })

  it('starts all threads with warm', async () => {
    const pool = openPool({ size: 2 })
    await pool.warm()
    const { gate, open, reached } = makeGate()
    const held = [1, 2].map(() => pool.run({ name: 'hold', input: { gate } }))
    await reached(2)
    open()
    await Promise.all(held)
  })
})

describe('aborting', () => {
  it('removes a queued task and rejects a running one at once', async () => {
    const pool = openPool()
    const { gate, open, reached } = makeGate()
    const controllers = [1, 2, 3].map(() => new AbortController())
    const runs = controllers.map(({ signal }) => pool.run({ name: 'hold', input: { gate } }, signal))
    await reached(1)
    expect([pool.running, pool.queued]).toEqual([2, 1])
    const ended = Promise.allSettled(runs)
    for (const controller of controllers) controller.abort(new Error('enough'))
    for (const result of await ended) expect(result).toMatchObject({ reason: { message: 'enough' } })
    expect(pool.queued).toBe(0)
    open()
    expect(await pool.run({ name: 'echo', input: 1 })).toBe(1)
    await expect(pool.run({ name: 'echo', input: 1 }, AbortSignal.abort('early'))).rejects.toBe('early')
  })
})

describe('a thread that dies', () => {
  it.each([
    ['exits', 'exit'],
    ['throws outside of a task', 'throw_later'],
    ['runs out of memory', 'hoard'],
  ])('when it %s, fails only the running task', async (_how, name) => {
    const pool = openPool({ resourceLimits: { maxOldGenerationSizeMb: 24 } })
    const before = await pool.run<number>({ name: 'thread', input: null })
    const killed = pool.run({ name, input: null })
    const moved = new Uint8Array([7])
    const behind = pool.run<Uint8Array>({ name: 'bytes', input: moved, transfer: [moved.buffer] })
    const after = pool.run<number>({ name: 'thread', input: null })
    await expect(killed).rejects.toMatchObject({
      code: 'worker_failed',
      retryable: true,
      details: { lane: 'test', task: name },
    })
    expect(await behind).toEqual(new Uint8Array([8]))
    expect(await after).not.toBe(before)
  })

  it('is ended when its task takes too long, and the tasks behind it go to another thread', async () => {
    const pool = openPool({ taskTimeoutMs: 1_000 })
    await pool.warm()
    const stuck = pool.run({ name: 'spin', input: null })
    const behind = [1, 2, 3].map((number) => pool.run({ name: 'echo', input: number }))
    await expect(stuck).rejects.toMatchObject({
      code: 'worker_timeout',
      details: { lane: 'test', task: 'spin', timeout_ms: 1_000 },
    })
    expect(await Promise.all(behind)).toEqual([1, 2, 3])
  })

  inLong(() => {
    it('does not send a large moving task to a busy thread', async () => {
      const pool = openPool()
      const { gate, open, reached } = makeGate()
      const held = pool.run({ name: 'hold', input: { gate } })
      await reached(1)
      const large = new Uint8Array(2 * 1024 * 1024)
      const run = pool.run<Uint8Array>({ name: 'bytes', input: large, transfer: [large.buffer] })
      expect([pool.running, pool.queued, large.byteLength]).toEqual([1, 1, 2 * 1024 * 1024])
      open()
      await held
      expect((await run).length).toBe(2 * 1024 * 1024)
      expect(large.byteLength).toBe(0)
    })

    it('fails waiting tasks after a limited number of tries when its entry cannot start', async () => {
      const pool = openPool({ size: 2, workerData: 'broken' })
      const runs = [1, 2, 3, 4, 5, 6].map((number) => pool.run({ name: 'echo', input: number }))
      for (const result of await Promise.allSettled(runs)) {
        expect(result).toMatchObject({ status: 'rejected', reason: { code: 'worker_failed' } })
      }
      await expect(pool.warm()).rejects.toMatchObject({ cause: { message: 'this entry never starts' } })
    })
  })
})

describe('closing', () => {
  it('rejects unfinished and new tasks', async () => {
    const pool = openPool()
    const { gate, reached } = makeGate()
    const runs = [1, 2, 3].map(() => pool.run({ name: 'hold', input: { gate } }))
    await reached(1)
    const ended = Promise.allSettled(runs)
    await pool.close()
    await pool.close()
    for (const result of await ended) expect(result).toMatchObject({ reason: { code: 'shutting_down' } })
    await expect(pool.run({ name: 'echo', input: 1 })).rejects.toMatchObject({ code: 'shutting_down' })
  })
})

inLong(() => {
  describe('the entry of a lane', () => {
    it('may be JavaScript', async () => {
      const directory = await newFolder()
      const entry = pathToFileURL(join(directory, 'entry.mjs'))
      const library = new URL('./serve-tasks.ts', import.meta.url).href
      const code = `import { serveTasks } from '${library}'\nserveTasks({ two: () => ({ value: 2 }) })\n`
      await writeFile(entry, code)
      expect(await openPool({ entry }).run({ name: 'two', input: null })).toBe(2)
    })
  })
})
