import { describe, expect, it } from 'vitest'
import { hostEnvironment } from './process.ts'

describe('hostEnvironment', () => {
  it("RUN-16: has langgraph.json's env, and only those variables of the server that every process needs (D-42)", () => {
    const server = {
      PATH: '/bin',
      HOME: '/root',
      NODE_COMPILE_CACHE: '/tmp/compiled',
      DATABASE_URL: 'postgres://secret',
      BOOTSTRAP_API_KEY: 'k',
      TZ: undefined,
    }
    const env = hostEnvironment(server, { MODEL: 'm', PATH: '/own' })
    expect(env).toMatchObject({
      PATH: '/own',
      HOME: '/root',
      NODE_COMPILE_CACHE: '/tmp/compiled',
      MODEL: 'm',
    })
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
