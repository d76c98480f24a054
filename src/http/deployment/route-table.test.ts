import { describe, expect, it } from 'vitest'
import { createRouteTable } from './route-table.ts'
import { deploymentRoutes } from './routes.ts'

const routes = deploymentRoutes()
const match = createRouteTable(routes)

describe('a route table', () => {
  it('finds every route by its own path', () => {
    for (const { method, path } of routes) {
      const found = match(path.replaceAll(/\{(\w+)\}/g, 'the-$1'))
      expect([found?.path, found?.routes.get(method)?.path]).toEqual([path, path])
      for (const [name, value] of Object.entries(found?.params ?? {})) expect(value).toBe(`the-${name}`)
    }
  })

  it('prefers fixed segments, and goes back when they lead nowhere', () => {
    expect(match('/threads/search')?.path).toBe('/threads/search')
    const found = match('/threads/search/state')
    expect([found?.path, found?.params]).toEqual(['/threads/{thread_id}/state', { thread_id: 'search' }])
  })

  it('accepts one more slash, and decodes parameters', () => {
    expect(match('/threads/')?.path).toBe('/threads')
    expect(match('/threads/a%20b')?.params).toEqual({ thread_id: 'a b' })
    expect(match('/')?.path).toBe('/')
  })

  it('finds no other paths', () => {
    for (const path of ['/threads//', '/threads//runs', '/nope', '/threads/a/b/c/d/e/f', '/threads/%ff'])
      expect([path, match(path)]).toEqual([path, undefined])
  })
})
