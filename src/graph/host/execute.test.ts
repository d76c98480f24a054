import { describe, expect, it } from 'vitest'
import { describeError } from './execute.ts'

describe('HOST-10: what code of graphs throws is described by texts', () => {
  class QuotaError extends Error {}
  it.each([
    [new QuotaError('none'), { error: 'QuotaError', message: 'none' }],
    [Object.assign(new Error(), { message: { code: 7 } }), { error: 'Error', message: '{ code: 7 }' }],
    [Object.assign(new Error('x'), { name: 7 }), { error: '7', message: 'x' }],
    [{ code: 7 }, { error: 'Error', message: '{ code: 7 }' }],
    [Object.create(null), { error: 'Error', message: '[Object: null prototype] {}' }],
    ['text', { error: 'Error', message: 'text' }],
    [undefined, { error: 'Error', message: 'undefined' }],
  ])('%o', (thrown, described) => {
    expect(describeError(thrown)).toEqual(described)
  })
})
