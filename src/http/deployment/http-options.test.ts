import { describe, expect, it } from 'vitest'
import { readHttpOptions, routeGroup, unmounted } from './http-options.ts'
import { deploymentRoutes } from './routes.ts'

describe('groups of routes', () => {
  it('hold every route', () => {
    const groups = Object.groupBy(
      deploymentRoutes().map(({ path }) => path),
      (path) => routeGroup(path) ?? 'none',
    )
    expect(groups.runs).toContain('/threads/{thread_id}/runs/{run_id}/cancel')
    expect(groups.runs).toContain('/runs/crons/{cron_id}')
    expect(groups.threads).toContain('/threads/{thread_id}/state')
    expect(groups.threads?.every((path) => path.startsWith('/threads'))).toBe(true)
    expect(groups.store?.every((path) => path.startsWith('/store/'))).toBe(true)
    expect(groups.assistants?.every((path) => path.startsWith('/assistants'))).toBe(true)
    expect(new Set(groups.meta)).toEqual(
      new Set(['/metrics', '/ok', '/info', '/docs', '/docs/{file}', '/openapi.json', '/']),
    )
  })
})

describe('a mount prefix', () => {
  it.each([
    ['/chat', '/chat/threads', '/threads'],
    ['/chat/', '/chat', '/'],
    ['/chat/v1', '/chat/v1/ok', '/ok'],
    ['/chat', '/ok', '/ok'],
    ['', '/threads', '/threads'],
  ])('%s: %s is %s', (mount_prefix, path, expected) => {
    expect(unmounted(path, readHttpOptions({ mount_prefix }))).toBe(expected)
  })

  it.each(['/threads', '/chatter/threads', '/'])('leaves out %s', (path) => {
    expect(unmounted(path, readHttpOptions({ mount_prefix: '/chat' }))).toBe('/(none)')
  })

  it.each(['chat', '/a b', '//chat', 3])('must be a path: %j is refused', (mount_prefix) => {
    expect(() => readHttpOptions({ mount_prefix })).toThrow(/mount_prefix/)
  })
})
