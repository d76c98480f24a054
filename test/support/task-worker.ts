import { threadId, workerData } from 'node:worker_threads'
import { AppError } from '../../src/base/errors.ts'
import { serveTasks } from '../../src/worker-threads/serve-tasks.ts'

/** The worker thread in tests of the worker pool. The name of a task determines what the thread does. */
if (workerData === 'broken') throw new Error('this entry never starts')

const gate = (input: unknown): Int32Array => new Int32Array((input as { gate: SharedArrayBuffer }).gate)

serveTasks({
  echo: (input) => ({ value: input }),
  thread: () => ({ value: threadId }),
  data: () => ({ value: workerData }),
  bytes: (input) => {
    const bytes = (input as Uint8Array<ArrayBuffer>).map((byte) => byte + 1)
    return { value: bytes, transfer: [bytes.buffer] }
  },
  refuse: () => {
    throw new AppError('invalid_field', { message: 'no such field', details: { field: 'a' } })
  },
  uncloneable: () => {
    throw new AppError('invalid_field', { details: () => 'a function' })
  },
  reply_uncloneable: () => ({ value: () => 'a function' }),
  fail: () => {
    throw new TypeError('a bug')
  },
  /** Blocks the thread until the test opens the gate. */
  hold: (input) => {
    Atomics.add(gate(input), 1, 1)
    Atomics.notify(gate(input), 1)
    Atomics.wait(gate(input), 0, 0)
    return { value: 'released' }
  },
  exit: () => process.exit(3),
  spin: () => {
    for (;;);
  },
  hoard: () => {
    const hoard: unknown[] = []
    for (;;) hoard.push(Array.from({ length: 1_000 }, Math.random))
  },
  throw_later: async () => {
    queueMicrotask(() => {
      throw new Error('thrown outside of the task')
    })
    await new Promise(() => {})
    return { value: null }
  },
})
