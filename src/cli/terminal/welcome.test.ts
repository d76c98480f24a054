import { describe, expect, it } from 'vitest'
import { readConfig } from '../../config.ts'
import { appLink, devWelcome, type Started, serveWelcome } from './welcome.ts'

const KEY = 'lsv2_pt_kept'
const PAGE = 'http://127.0.0.1:1984/app/'
const NO_TICKET = { link: PAGE }

function started(fields: Partial<Started> & { key?: string | undefined; replaced?: boolean } = {}): Started {
  const { key, replaced, ...others } = { key: KEY, replaced: false, ...fields }
  return {
    url: 'http://127.0.0.1:1984',
    deploymentUrl: 'http://127.0.0.1:2024',
    otlpGrpcUrl: 'http://127.0.0.1:4317',
    movedPorts: [],
    movedAddresses: [],
    isFirst: true,
    ...others,
    identity: { key, replaced } as Started['identity'],
  }
}

const keyLine = (start: Started, env = {}): string | undefined =>
  /API_KEY=(.*)/.exec(serveWelcome(start, readConfig(env), NO_TICKET))?.[1]

describe('the welcome text', () => {
  it('shows the key at the first start and when it is new, else its file', () => {
    expect(keyLine(started())).toBe(KEY)
    expect(keyLine(started({ isFirst: false, replaced: true }))).toBe(KEY)
    expect(keyLine(started({ isFirst: false }), { DATA_DIR: '/d' })).toBe('$(cat /d/api-key)')
    expect(keyLine(started({ isFirst: false }), { DATA_DIR: './d' })).toBe(
      `$(cat ${process.cwd()}/d/api-key)`,
    )
    expect(keyLine(started({ isFirst: false }), { DATA_DIR: "/my d's" })).toBe("$(cat '/my d'\\''s/api-key')")
  })

  it('shows no key that is not stored, that the user has set, or that is not needed', () => {
    expect(keyLine(started({ key: undefined, isFirst: false }))).toBe('…    # a key that you created')
    const BOOTSTRAP_API_KEY = 'given_key_0123456789'
    expect(keyLine(started({ key: BOOTSTRAP_API_KEY }), { BOOTSTRAP_API_KEY })).toBe(
      '…    # the value of BOOTSTRAP_API_KEY',
    )
    expect(keyLine(started(), { AUTH: 'off' })).toBe('any    # AUTH is off: no key is needed')
  })

  it('names an address that differs from that of the last start (D-55)', () => {
    const from = 'http://127.0.0.1:1985'
    const moved = started({ isFirst: false, movedAddresses: [{ from, to: 'http://127.0.0.1:1984' }] })
    const words =
      'The last start used http://127.0.0.1:1985, this one uses http://127.0.0.1:1984. Set the variables of shells and clients again: eval "$(weir env)".'
    expect(serveWelcome(moved, readConfig({}), NO_TICKET)).toContain(words)
    expect(devWelcome(moved, readConfig({}), NO_TICKET)).toContain(words)
    expect(serveWelcome(started(), readConfig({}), NO_TICKET)).not.toContain('last start')
  })

  it('names a default port that was taken', () => {
    const moved = started({ movedPorts: [{ setting: 'DEPLOYMENT_PORT', taken: 2024, port: 2025 }] })
    const words = 'Port 2024 is taken, using 2025 instead (set DEPLOYMENT_PORT to choose one).'
    expect(serveWelcome(moved, readConfig({}), NO_TICKET)).toContain(words)
    expect(devWelcome(moved, readConfig({}), NO_TICKET)).toContain(words)
    const without = started({
      otlpGrpcUrl: undefined,
      movedPorts: [{ setting: 'OTLP_GRPC_PORT', taken: 4317, port: undefined }],
    })
    const said = 'Port 4317 is taken, OTLP over gRPC is off (set OTLP_GRPC_PORT to choose another port).'
    expect(serveWelcome(without, readConfig({}), NO_TICKET)).toContain(said)
    expect(serveWelcome(without, readConfig({}), NO_TICKET)).not.toContain('over gRPC.')
    expect(serveWelcome(started(), readConfig({}), NO_TICKET)).toContain(
      'OpenTelemetry exporters send to http://127.0.0.1:1984 over HTTP, to http://127.0.0.1:4317 over gRPC.',
    )
  })

  it('names each graph that cannot be loaded, with the reason', () => {
    const words = 'Graph "a" cannot be loaded: /p/a.ts:3: ReferenceError: missing is not defined'
    expect(serveWelcome(started(), readConfig({}), { ...NO_TICKET, failures: [words] })).toContain(
      `\n${words}\nIts runs fail`,
    )
    expect(devWelcome(started(), readConfig({}), { ...NO_TICKET, failures: [words] })).toContain(words)
    expect(serveWelcome(started(), readConfig({}), { ...NO_TICKET, failures: [] })).not.toContain(
      'Its runs fail',
    )
  })

  it('never shows the key of BOOTSTRAP_API_KEY', () => {
    const BOOTSTRAP_API_KEY = 'given_key_0123456789'
    const config = readConfig({ BOOTSTRAP_API_KEY })
    for (const welcome of [serveWelcome, devWelcome])
      expect(welcome(started({ key: BOOTSTRAP_API_KEY }), config, NO_TICKET)).not.toContain(BOOTSTRAP_API_KEY)
  })

  it('names the web interface, with a ticket only where it may show the key', async () => {
    expect(serveWelcome(started(), readConfig({}), NO_TICKET)).toContain(`\nOpen ${PAGE}\n`)
    expect(devWelcome(started(), readConfig({}), NO_TICKET)).toContain(`Open        ${PAGE}`)
    const app = { page: PAGE, signIn: async () => `${PAGE}#ticket=T` }
    const linkOf = (start: Started, env = {}, isTerminal = false): Promise<string> =>
      appLink({ ...start, app }, readConfig(env), isTerminal)
    const later = started({ isFirst: false })
    expect(await linkOf(started())).toBe(`${PAGE}#ticket=T`)
    expect(await linkOf(started({ isFirst: false, replaced: true }))).toBe(`${PAGE}#ticket=T`)
    expect(await linkOf(later, {}, true)).toBe(`${PAGE}#ticket=T`)
    expect(await linkOf(later)).toBe(PAGE)
    expect(await linkOf(started({ key: undefined }), {}, true)).toBe(PAGE)
    expect(await linkOf(started(), { AUTH: 'off' }, true)).toBe(PAGE)
    const BOOTSTRAP_API_KEY = 'given_key_0123456789'
    expect(await linkOf(started({ key: BOOTSTRAP_API_KEY }), { BOOTSTRAP_API_KEY }, true)).toBe(PAGE)
  })

  it('does not mention a deployment when none is hosted', () => {
    expect(serveWelcome(started({ deploymentUrl: undefined }), readConfig({}), NO_TICKET)).not.toContain(
      'LangGraph',
    )
  })
})
