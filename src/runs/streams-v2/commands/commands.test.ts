import { describe, expect, it } from 'vitest'
import { AppError, type ErrorCode } from '../../../base/errors.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { Call, RunRequest } from '../../runs.ts'
import { carryOut, type CommandDeps } from './commands.ts'

const call = { tenant: { deployment_id: 'd', workspace_id: 'w' } } as unknown as Call
const THREAD = 'a5a5a5a5-0000-4000-8000-000000000000'

function failing(error: Error): () => Promise<never> {
  return async () => {
    throw error
  }
}

/** The answer to `run.start` when creating the run fails with the given error, and the errors that were logged. */
async function startThatFails(error: Error): Promise<{ answer: JsonObject; faults: ErrorCode[] }> {
  const faults: ErrorCode[] = []
  const deps: CommandDeps = {
    runs: { create: failing(error), recent: async () => [], cancel: async () => undefined },
    threads: {
      get: failing(new AppError('not_found')),
      state: failing(error),
      history: failing(error),
    },
    streams: { lastSeq: async () => 0, followThread: failing(error) },
    toRunRequest: (body) => body as unknown as RunRequest,
    assertMay: () => undefined,
    onFault: ({ code }) => faults.push(code),
  }
  const answer = await carryOut(deps, call, THREAD, { id: 7, method: 'run.start', params: {} })
  return { answer, faults }
}

describe('a command that fails', () => {
  const AS_IN_V1 = [
    'disk_full',
    'disk_unwritable',
    'rate_limited',
    'quota_reached',
    'host_unavailable',
    'overloaded',
    'store_unavailable',
    'shutting_down',
    'unauthorized',
  ] as const

  it.each(AS_IN_V1)('keeps the status of %s, after which clients try again or log in (V-2)', async (code) => {
    await expect(startThatFails(new AppError(code))).rejects.toMatchObject({ code })
  })

  it.each([
    ['thread_busy', 'invalid_argument'],
    ['graph_not_loaded', 'invalid_argument'],
    ['not_found', 'invalid_argument'],
    ['forbidden', 'permission_denied'],
    ['not_implemented', 'not_supported'],
  ] as const)('answers %s as %s (V-3)', async (code, error) => {
    const { answer, faults } = await startThatFails(new AppError(code))
    expect([answer, faults]).toMatchObject([{ type: 'error', id: 7, error, code }, []])
  })

  it('reports a fault of the server, which the client is told as unknown_error (V-3)', async () => {
    const { answer, faults } = await startThatFails(new Error('secret text'))
    expect([answer, faults]).toMatchObject([{ error: 'unknown_error', code: 'internal' }, ['internal']])
    expect(JSON.stringify(answer)).not.toContain('secret')
  })
})
