import { describe, expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { devWelcome, type Started, serveWelcome } from './welcome.ts'

const KEY = 'lsv2_pt_kept'

function started(fields: Partial<Started> & { key?: string | undefined; replaced?: boolean } = {}): Started {
  const { key, replaced, ...others } = { key: KEY, replaced: false, ...fields }
  return {
    url: 'http://127.0.0.1:1984',
    deploymentUrl: 'http://127.0.0.1:2024',
    movedPorts: [],
    isFirst: true,
    ...others,
    identity: { key, replaced } as Started['identity'],
  }
}

const keyLine = (start: Started, env = {}): string | undefined =>
  /API_KEY=(.*)/.exec(serveWelcome(start, readConfig(env)))?.[1]

describe('what a start tells', () => {
  it('is the key at the first start that listens and when it is new, else where it is kept', () => {
    expect(keyLine(started())).toBe(KEY)
    expect(keyLine(started({ isFirst: false, replaced: true }))).toBe(KEY)
    expect(keyLine(started({ isFirst: false }), { DATA_DIR: '/d' })).toBe('$(cat /d/api-key)')
  })

  it('is no key that is not kept, that the user has given, or that nobody needs', () => {
    expect(keyLine(started({ key: undefined, isFirst: false }))).toBe('…    # a key that you have made')
    const BOOTSTRAP_API_KEY = 'given_key_0123456789'
    expect(keyLine(started({ key: BOOTSTRAP_API_KEY }), { BOOTSTRAP_API_KEY })).toBe(
      '…    # the value of BOOTSTRAP_API_KEY',
    )
    expect(keyLine(started(), { AUTH: 'off' })).toBe('any    # AUTH is off: no key is needed')
  })

  it('is which default port was taken', () => {
    const moved = started({ movedPorts: [{ setting: 'DEPLOYMENT_PORT', taken: 2024, port: 2025 }] })
    const words = 'Port 2024 is taken, so it is 2025 (DEPLOYMENT_PORT names another).'
    expect(serveWelcome(moved, readConfig({}))).toContain(words)
    expect(devWelcome(moved, readConfig({}))).toContain(words)
  })

  it('is which graph cannot be loaded, and why', () => {
    const words = 'Graph "a" cannot be loaded: /p/a.ts:3: ReferenceError: missing is not defined'
    expect(serveWelcome(started(), readConfig({}), [words])).toContain(`\n${words}\nIts runs fail`)
    expect(devWelcome(started(), readConfig({}), [words])).toContain(words)
    expect(serveWelcome(started(), readConfig({}), [])).not.toContain('Its runs fail')
  })

  it('never shows a key that the operator has chosen', () => {
    const BOOTSTRAP_API_KEY = 'given_key_0123456789'
    const config = readConfig({ BOOTSTRAP_API_KEY })
    for (const welcome of [serveWelcome, devWelcome])
      expect(welcome(started({ key: BOOTSTRAP_API_KEY }), config)).not.toContain(BOOTSTRAP_API_KEY)
  })

  it('is nothing of a deployment that there is not', () => {
    expect(serveWelcome(started({ deploymentUrl: undefined }), readConfig({}))).not.toContain('LangGraph')
  })
})
