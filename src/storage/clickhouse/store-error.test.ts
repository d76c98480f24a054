import { ClickHouseError } from '@clickhouse/client'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { clickHouseCode, refusalError, toStoreError } from './store-error.ts'

function refusal(code: string, type: string): ClickHouseError {
  return new ClickHouseError({ message: 'm', code, type })
}

describe('toStoreError', () => {
  it.each([
    refusal('252', 'TOO_MANY_PARTS'),
    refusal('202', 'TOO_MANY_SIMULTANEOUS_QUERIES'),
    refusal('999', 'KEEPER_EXCEPTION'),
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    new Error('Timeout error.'),
    new Error('<html>502 Bad Gateway</html>'),
  ])('$message $type may be retried', (error) => {
    expect(toStoreError(error)).toMatchObject({ code: 'store_unavailable', retryable: true, cause: error })
  })

  it.each([refusal('62', 'SYNTAX_ERROR'), refusal('516', 'AUTHENTICATION_FAILED'), new TypeError('ours')])(
    '$message $type may not be retried',
    (error) => {
      expect(toStoreError(error)).toMatchObject({ code: 'internal', retryable: false, cause: error })
    },
  )

  it.each([
    refusal('243', 'NOT_ENOUGH_SPACE'),
    new ClickHouseError({
      message: 'Cannot write to file: , errno: 28, strerror: No space left on device',
      code: '75',
      type: 'CANNOT_WRITE_TO_FILE_DESCRIPTOR',
    }),
  ])('$type is a full disk', (error) => {
    expect(toStoreError(error)).toMatchObject({ code: 'disk_full', retryable: true, cause: error })
  })

  it('returns an AppError unchanged', () => {
    const error = new AppError('overloaded')
    expect(toStoreError(error)).toBe(error)
  })

  it('keeps the code of a refusal', () => {
    expect(clickHouseCode(refusal('60', 'UNKNOWN_TABLE'))).toBe(60)
    expect(clickHouseCode(new Error('x'))).toBeUndefined()
  })
})

describe('refusalError', () => {
  const html = '<html><h1>413 Request Entity Too Large</h1></html>'

  it.each([301, 400, 403, 404, 413, 414, 431])(
    'a status %i without an exception is a fault of the configuration',
    (status) => {
      const error = refusalError({ status, exception: undefined, text: html })
      expect(toStoreError(error)).toMatchObject({
        code: 'store_misconfigured',
        retryable: true,
        message: expect.stringContaining(`refused with ${status}`),
      })
    },
  )

  it.each([408, 429, 502, 503, 504])('a status %i without an exception may be retried', (status) => {
    const error = refusalError({ status, exception: undefined, text: html })
    expect(toStoreError(error)).toMatchObject({ code: 'store_unavailable' })
  })

  it('an exception keeps its code, and one in another form is no fault of the configuration', () => {
    const text = 'Code: 60. DB::Exception: Table t does not exist. (UNKNOWN_TABLE)'
    expect(clickHouseCode(refusalError({ status: 404, exception: '60', text }))).toBe(60)
    const poco = refusalError({ status: 400, exception: '1000', text: 'Poco::Exception. Code: 1000' })
    expect(toStoreError(poco)).toMatchObject({ code: 'store_unavailable' })
  })
})
