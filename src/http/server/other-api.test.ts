import { expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { notServedHere, type OtherApi } from './other-api.ts'

const other: OtherApi = {
  name: 'the deployment API (threads and runs)',
  serves: (method, path) => method === 'POST' && path === '/threads',
  port: () => 2024,
  also: 'and under /deployments/graphs here',
}

it('names the port of the other API when that has the route, and nothing of it otherwise', () => {
  const found = notServedHere(new AppError('method_not_allowed'), { method: 'POST', path: '/threads' }, other)
  expect([found.code, found.message]).toEqual([
    'method_not_allowed',
    'Not found here: POST /threads is a route of the deployment API (threads and runs), which listens on port 2024 and under /deployments/graphs here.',
  ])
  for (const [method, api] of [
    ['GET', other],
    ['POST', undefined],
    ['POST', { ...other, port: () => undefined }],
  ] as const) {
    const refusal = new AppError('not_found')
    expect(notServedHere(refusal, { method, path: '/threads' }, api)).toBe(refusal)
  }
})
