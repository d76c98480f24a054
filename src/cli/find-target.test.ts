import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ClientSettings } from '../config.ts'
import { announceServer } from '../server-address.ts'
import { shellCommands } from './env.ts'
import { type Api, findTarget, type TargetFlags } from './find-target.ts'

const OURS = { url: 'http://127.0.0.1:1985', deploymentUrl: 'http://10.0.0.5:2025' }
let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weir-target-'))
  await writeFile(join(dataDir, 'api-key'), 'kept\n')
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

const NOTHING = { url: undefined, deploymentUrl: undefined, port: undefined, deploymentPort: undefined }
const find = (api: Api, flags: TargetFlags = {}, named: Partial<ClientSettings> = {}) =>
  findTarget(api, flags, { ...NOTHING, apiKey: undefined, dataDir, ...named })

describe('the server that a command talks to', () => {
  it('is the one that runs on the data directory, with the key that is kept there', async () => {
    await announceServer(dataDir, OURS)
    const keyFile = join(dataDir, 'api-key')
    const kept = { key: 'kept', keySource: keyFile, keyFile }
    expect(await find('platform')).toEqual({ url: OURS.url, ...kept })
    expect(await find('deployment')).toEqual({ url: OURS.deploymentUrl, ...kept })
  })

  it('is none when nothing runs there and nothing is named: the key goes to no default port', async () => {
    const words = `No server runs on ${dataDir} (DATA_DIR). Start it with npm start, set DATA_DIR to the folder of one that runs, or name its address with --url or`
    await expect(find('platform')).rejects.toThrow(`${words} WEIR_URL.`)
    await expect(find('deployment', {}, { apiKey: 'mine' })).rejects.toThrow(`${words} WEIR_DEPLOYMENT_URL.`)
    const { withdraw } = await announceServer(dataDir, OURS)
    await withdraw()
    await expect(find('platform')).rejects.toThrow(words)
  })

  it('is the one that is named, first by a flag, then by an address, then by a port', async () => {
    await announceServer(dataDir, OURS)
    const urls = { url: 'https://a.example/', deploymentUrl: 'https://b.example' }
    const ports = { port: '3000', deploymentPort: '3001' }
    expect((await find('platform', { url: 'http://c.example' }, { ...urls, ...ports })).url).toBe(
      'http://c.example',
    )
    expect((await find('platform', {}, { ...urls, ...ports })).url).toBe('https://a.example')
    expect((await find('deployment', {}, { ...urls, ...ports })).url).toBe('https://b.example')
    expect((await find('platform', {}, ports)).url).toBe('http://127.0.0.1:3000')
    expect((await find('deployment', {}, ports)).url).toBe('http://127.0.0.1:3001')
    // The port that runs here is at the address that it listens on.
    expect((await find('deployment', {}, { deploymentPort: '2025' })).url).toBe(OURS.deploymentUrl)
  })

  it('gets the kept key when it is ours or on this machine and named, else only a key that is named too', async () => {
    const keyOf = async (...args: Parameters<typeof find>) => (await find(...args)).key
    expect(await keyOf('platform', { url: 'http://localhost:9' })).toBe('kept')
    expect(await keyOf('platform', {}, { port: '9' })).toBe('kept')
    expect(await keyOf('platform', { url: 'http://127.0.0.1.evil.example' })).toBeUndefined()
    expect(await keyOf('platform', {}, { url: 'https://a.example' })).toBeUndefined()
    expect(await keyOf('platform', {}, { url: 'https://a.example', apiKey: 'mine' })).toBe('mine')
    expect(await keyOf('platform', { key: 'flag', url: 'https://a.example' }, { apiKey: 'mine' })).toBe(
      'flag',
    )
  })

  it('names the file of the kept key only where that key may be shown', async () => {
    const named = { url: 'https://a.example' }
    expect((await find('platform', {}, named)).keyFile).toBeUndefined()
    expect((await find('platform', {}, { port: '9' })).keyFile).toBe(join(dataDir, 'api-key'))
  })

  it.each([
    [
      { url: 'localhost:1984' },
      {},
      '--url must be an address such as http://localhost:1984, and is "localhost:1984".',
    ],
    [{}, { url: 'tcp://x' }, 'WEIR_URL must be an address such as'],
    [{}, { port: 'abc' }, 'PORT must be a port up to 65535, and is "abc".'],
  ])('is refused as %j %j', async (flags, named, words) => {
    await expect(find('platform', flags, named)).rejects.toThrow(words)
  })

  it('is not guessed for a deployment when only the platform is named, or no graphs are hosted', async () => {
    await expect(find('deployment', {}, { url: 'https://a.example' })).rejects.toThrow(
      'WEIR_URL names a server but not the address of its deployment: set WEIR_DEPLOYMENT_URL as well, or give --url.',
    )
    await announceServer(dataDir, { ...OURS, deploymentUrl: undefined })
    await expect(find('deployment')).rejects.toThrow('hosts no graphs: it was started with an empty GRAPHS.')
  })
})

describe('weir env', () => {
  const target = { url: 'http://[::1]:1985', key: 'lsv2_pt_a', keySource: 'x', keyFile: 'x' }

  it('prints what a shell evaluates, quoted where it must be', () => {
    expect(shellCommands(target, { ...target, url: 'http://127.0.0.1:2025' })).toBe(
      [
        'export LANGSMITH_TRACING=true',
        'export LANGSMITH_ENDPOINT=http://[::1]:1985',
        'export LANGSMITH_API_KEY=lsv2_pt_a',
        'export LANGGRAPH_API_URL=http://127.0.0.1:2025',
      ].join('\n'),
    )
    expect(shellCommands({ ...target, key: `a'$(b)` }, undefined)).toContain(
      String.raw`export LANGSMITH_API_KEY='a'\''$(b)'`,
    )
  })

  it('leaves out what there is not', () => {
    const text = shellCommands({ ...target, key: undefined }, undefined)
    expect(text).not.toMatch(/API_KEY|LANGGRAPH/)
  })
})
