import { expect, it } from 'vitest'
import { outcomeOf } from './signatures.ts'

it('finds packages whose signatures are wrong or missing', () => {
  expect(outcomeOf('{"invalid": [], "missing": []}')).toEqual({ problems: [] })
  const invalid = [{ name: 'a', version: '1.0.0', code: 'EINTEGRITYSIGNATURE' }]
  const missing = [{ name: '@b/c', version: '2.0.0' }]
  expect(outcomeOf(JSON.stringify({ invalid, missing }))).toEqual({
    problems: ['a@1.0.0: its signature is not valid', '@b/c@2.0.0: the registry signs others, and not this'],
  })
})

it('is skipped when the registry is away or has no signatures', () => {
  const error = { code: 'ENOTFOUND', summary: 'request to https://registry.test failed\nmore' }
  expect(outcomeOf(JSON.stringify({ error }))).toEqual({
    skipped: 'the registry gives no signatures: ENOTFOUND request to https://registry.test failed',
  })
  for (const printed of ['', 'npm error code EUNKNOWN', '{}'])
    expect(outcomeOf(printed)).toMatchObject({ skipped: expect.any(String) })
})
