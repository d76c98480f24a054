import { describe, expect, it } from 'vitest'
import { hostEnvironment } from './host-process.ts'

describe('hostEnvironment', () => {
  it("has langgraph.json's env and nothing of the server's but what any process needs (D-42)", () => {
    const server = {
      PATH: '/bin',
      HOME: '/root',
      DATABASE_URL: 'postgres://secret',
      BOOTSTRAP_API_KEY: 'k',
      TZ: undefined,
    }
    const env = hostEnvironment(server, { MODEL: 'm', PATH: '/own' })
    expect(env).toMatchObject({ PATH: '/own', HOME: '/root', MODEL: 'm' })
    expect(Object.keys(env)).not.toContain('DATABASE_URL')
    expect(Object.keys(env)).not.toContain('BOOTSTRAP_API_KEY')
    expect(Object.keys(env)).not.toContain('TZ')
  })

  it('never lets callbacks run in the background, where tokens get lost', () => {
    expect(hostEnvironment({}, { LANGCHAIN_CALLBACKS_BACKGROUND: 'true' })).toMatchObject({
      LANGCHAIN_CALLBACKS_BACKGROUND: 'false',
    })
  })
})
