import { describe, expect, it } from 'vitest'
import { prefixOf } from './path-prefix.ts'

describe('prefixOf', () => {
  it('is the prefix that a proxy removed, then the part of the URL before the path', () => {
    const of = (url: string, path: string, sent?: string): string =>
      prefixOf({ url, headers: sent === undefined ? {} : { 'x-forwarded-prefix': sent } }, path)
    expect(of('/deployments/a/ui/b?x=1', '/ui/b')).toBe('/deployments/a')
    expect(of('/ui/b', '/ui/b')).toBe('')
    expect(of('/ui/b', '/ui/b', '/outer')).toBe('/outer')
    expect(of('/inner/ui/b', '/ui/b', '/outer')).toBe('/outer/inner')
    expect(of('/ui/b', '/ui/b', '"><script>')).toBe('')
  })
})
