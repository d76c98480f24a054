import { describe, expect, it } from 'vitest'
import { runErrorOf } from './run-error.ts'

/** An error in the form of the SDK. */
function httpError(status: number, body: unknown, headers: Record<string, string>): Error {
  const text = JSON.stringify(body)
  const response = new Response(null, { status, headers })
  return Object.assign(new Error(`HTTP ${status}: ${text}`), { status, text, response })
}

describe('the error of a run (ui.md, 5: detail, code and request_id)', () => {
  it('has the sentence, the code and the request of an answer of the server', () => {
    const error = httpError(409, { detail: 'A run is active.', code: 'conflict' }, { 'x-request-id': 'r-1' })
    expect(runErrorOf(error)).toEqual({ message: 'A run is active.', code: 'conflict', request_id: 'r-1' })
  })

  it('names the fields that the server refused', () => {
    const detail = [{ loc: ['body', 'input'], msg: 'is missing' }]
    expect(runErrorOf(httpError(422, { detail }, {}))).toMatchObject({
      message: 'input: is missing',
      code: 'http_422',
    })
  })

  it('has the class of what a node threw', () => {
    const thrown = Object.assign(new Error('no luck'), { name: 'ValueError' })
    expect(runErrorOf(thrown)).toEqual({ message: 'no luck', code: 'ValueError' })
    expect(runErrorOf(new Error('plain'))).toEqual({ message: 'plain' })
    expect(runErrorOf('text')).toEqual({ message: 'text' })
    expect(runErrorOf(null)).toBeUndefined()
  })
})
