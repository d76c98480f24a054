import { expect, it } from 'vitest'
import { createUserTokens } from './user-tokens.ts'

const STUDIO = { 'x-auth-scheme': 'langsmith' }

it('ui §3.9: the token of a user is sent to its deployment only, until it is forgotten', () => {
  const [tokens, others] = [createUserTokens(), createUserTokens()]
  tokens.setToken('a', 'secret')
  expect([tokens.headers('a'), tokens.hasToken('a')]).toEqual([{ authorization: 'Bearer secret' }, true])
  expect([tokens.headers('b'), tokens.hasToken('b')]).toEqual([STUDIO, false])
  expect(others.headers('a')).toEqual(STUDIO)
  tokens.setToken('a', '')
  expect([tokens.headers('a'), tokens.hasToken('a')]).toEqual([STUDIO, false])
  tokens.setToken('a', 'secret')
  tokens.forgetTokens()
  expect(tokens.hasToken('a')).toBe(false)
})
