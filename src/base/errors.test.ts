import { describe, expect, it } from 'vitest'
import { AppError, ERRORS, toAppError } from './errors.ts'

describe('AppError', () => {
  it('takes message, status and retryable from the table by default', () => {
    const error = new AppError('log_full')
    expect(error).toMatchObject({ name: 'AppError', code: 'log_full', status: 503, retryable: true })
    expect(error.message).toBe(ERRORS.log_full.message)
    expect(new AppError('not_found', { message: 'No such run' }).message).toBe('No such run')
  })

  it('keeps details and cause', () => {
    const cause = new Error('socket')
    const error = new AppError('store_unavailable', { details: { host: 'h' }, cause })
    expect(error.details).toEqual({ host: 'h' })
    expect(error.cause).toBe(cause)
  })
})

describe('ERRORS', () => {
  /** P-13 requires status 503 for this code, although a retry is useless. */
  const FINAL_503 = 'container_runtime_unavailable'

  it('INGEST-4, P-13: is retryable exactly for the statuses after which clients retry, but for one 503', () => {
    expect(ERRORS[FINAL_503]).toMatchObject({ status: 503, retryable: false })
    for (const [code, { status, retryable }] of Object.entries(ERRORS)) {
      if (code === FINAL_503) continue
      expect([code, retryable]).toEqual([code, status === 429 || status === 503])
    }
  })
})

describe('workspace_required', () => {
  it("P-10: has the words after which LangChain's command asks for a workspace", () => {
    expect(new AppError('workspace_required').message).toContain('requires workspace specification')
  })
})

describe('toAppError', () => {
  it('passes AppErrors through and hides anything else behind internal', () => {
    const known = new AppError('conflict')
    expect(toAppError(known)).toBe(known)
    const wrapped = toAppError('text with a secret')
    expect(wrapped.code).toBe('internal')
    expect(wrapped.message).not.toContain('secret')
    expect(wrapped.cause).toBe('text with a secret')
  })
})
