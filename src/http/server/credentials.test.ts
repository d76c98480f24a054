import { expect, it } from 'vitest'
import { credentialsOf } from './credentials.ts'

it('IDENTITY-5: a key that a client sends twice counts once; two different ones are no key', () => {
  const key = (headers: Record<string, string>) => credentialsOf(headers).key
  expect(key({ 'x-api-key': 'a' })).toBe('a')
  expect(key({ 'x-api-key': 'a, a' })).toBe('a')
  expect(key({ 'x-api-key': 'a, a, a' })).toBe('a')
  expect(key({ 'x-api-key': 'a,a' })).toBe('a')
  expect(key({ 'x-api-key': 'a, b' })).toBe('a, b')
  expect(key({ authorization: 'Bearer a' })).toBe('a')
  expect(credentialsOf({ 'x-api-key': 'a, a', 'x-tenant-id': 'w, w' })).toEqual({ key: 'a', workspace: 'w' })
})
