import { describe, expect, it } from 'vitest'
import { prefixOf } from './path-prefix.ts'

describe('what stands in front of a path', () => {
  it('is the rest of the address that was asked for, behind what a proxy took off', () => {
    const of = (url: string, path: string, sent?: string): string =>
      prefixOf({ url, headers: sent === undefined ? {} : { 'x-forwarded-prefix': sent } }, path)
    expect(of('/deployments/a/ui/b?x=1', '/ui/b')).toBe('/deployments/a')
    expect(of('/ui/b', '/ui/b')).toBe('')
    expect(of('/ui/b', '/ui/b', '/outer')).toBe('/outer')
    expect(of('/inner/ui/b', '/ui/b', '/outer')).toBe('/outer/inner')
    expect(of('/ui/b', '/ui/b', '"><script>')).toBe('')
  })
})
