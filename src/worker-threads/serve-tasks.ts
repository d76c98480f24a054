import { parentPort } from 'node:worker_threads'
import { AppError, type ErrorCode } from '../base/errors.ts'
import { releaseIdleMemory } from './idle-memory.ts'

/** The result of a handler: the value, and its buffers that may be transferred instead of copied. */
export interface TaskReply {
  value: unknown
  transfer?: readonly ArrayBuffer[]
}

/** Executes a task of a lane in a worker thread. The caller receives a thrown AppError unchanged. */
export type TaskHandler = (input: unknown) => TaskReply | Promise<TaskReply>

/** Messages from the pool to a thread. */
export interface TaskRequest {
  id: number
  name: string
  input: unknown
}

/** An error as a message between threads; `code` is null unless it is an AppError. */
export interface TaskFailure {
  code: ErrorCode | null
  message: string
  details: unknown
  stack: string | undefined
}

/** Messages from a thread to the pool. */
export type TaskMessage =
  | { kind: 'ready' }
  | { kind: 'done'; id: number; value: unknown }
  | { kind: 'failed'; id: number; failure: TaskFailure }

/**
 * The worker's side of a WorkerPool: runs tasks one after the other, in order of arrival. Must be called once, at the
 * end of the lane's entry module; after it the thread counts as started.
 */
export function serveTasks(handlers: Readonly<Record<string, TaskHandler>>): void {
  const port = parentPort
  if (port === null) throw new Error('serveTasks runs in a worker thread only')
  const send = (message: TaskMessage, transfer: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, [...transfer])

  const answer = async ({ id, name, input }: TaskRequest): Promise<void> => {
    try {
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
      if (handler === undefined) throw new Error(`No task is named ${name}`)
      const reply = await handler(input)
      send({ kind: 'done', id, value: reply.value }, reply.transfer)
    } catch (thrown) {
      const failure = describeFailure(thrown)
      try {
        send({ kind: 'failed', id, failure })
      } catch {
        // Details that cannot be cloned must not prevent the response.
        send({ kind: 'failed', id, failure: { ...failure, details: undefined } })
      }
    }
  }

  const memory = releaseIdleMemory()
  let last: Promise<void> = Promise.resolve()
  port.on('message', (request: TaskRequest) => {
    memory.begin()
    last = last.then(() => answer(request)).finally(memory.end)
  })
  send({ kind: 'ready' })
}

function describeFailure(thrown: unknown): TaskFailure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const known = error instanceof AppError ? error : null
  return {
    code: known?.code ?? null,
    message: error.message,
    details: known?.details,
    stack: error.stack,
  }
}

/** Rebuilds the error that a handler threw: the same AppError, or `internal` with the original error as cause. */
export function reviveFailure(failure: TaskFailure): AppError {
  const { code, message, details, stack } = failure
  const original = new Error(message)
  if (stack !== undefined) original.stack = stack
  return code === null
    ? new AppError('internal', { cause: original })
    : new AppError(code, { message, details, cause: original })
}
