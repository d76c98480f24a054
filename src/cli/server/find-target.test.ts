import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ClientSettings } from './client-settings.ts'
import { announceServer } from '../../start/server-address.ts'
import { shellCommands } from '../commands/env.ts'
import { keepLogin } from './logins.ts'
import { type Api, findTarget, findTargets, type TargetFlags } from './find-target.ts'
import { newFolder } from '../../../test/support/folder.ts'

const OURS = { url: 'http://127.0.0.1:1985', deploymentUrl: 'http://10.0.0.5:2025' }
let dataDir: string
beforeEach(async () => {
  dataDir = await newFolder()
  await writeFile(join(dataDir, 'api-key'), 'kept\n')
})

const NOTHING = { url: undefined, deploymentUrl: undefined, port: undefined, deploymentPort: undefined }
const find = (api: Api, flags: TargetFlags = {}, named: Partial<ClientSettings> = {}) =>
  findTarget(api, flags, {
    ...NOTHING,
    apiKey: undefined,
    dataDir,
    loginsFile: join(dataDir, 'logins.json'),
    ...named,
  })

describe('the server that a command calls', () => {
  it('is the one that uses the data directory, with the key stored there', async () => {
    await announceServer(dataDir, OURS)
    const keyFile = join(dataDir, 'api-key')
    const kept = { urlSource: undefined, key: 'kept', keySource: keyFile, keyFile }
    expect(await find('platform')).toEqual({ url: OURS.url, ...kept })
    expect(await find('deployment')).toEqual({ url: OURS.deploymentUrl, ...kept })
  })

  it('TEAM-8: gets the key of weir login for its address, until that ends, after those that are named', async () => {
    const file = join(dataDir, 'logins.json')
    const url = 'https://a.example'
    await keepLogin(file, url, { key: 'login', expires_at: null })
    await keepLogin(file, 'https://b.example', { key: 'ended', expires_at: '2020-01-01T00:00:00Z' })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await find('platform', { url })).toMatchObject({ key: 'login', keySource: file, isLogin: true })
    expect((await find('platform', { url: 'https://b.example' })).key).toBeUndefined()
    expect((await find('platform', { url: 'https://c.example' })).key).toBeUndefined()
    expect((await find('platform', { url, key: 'flag' })).key).toBe('flag')
    expect((await find('platform', { url }, { apiKey: 'mine' })).key).toBe('mine')
    await writeFile(file, 'no JSON')
    expect((await find('platform', { url })).key).toBeUndefined()
  })

  it('is never one at a default port, which must not receive the key', async () => {
    const words = `No server runs on ${dataDir} (DATA_DIR). Start it with npm start, set DATA_DIR to the folder of one that runs, or name its address with --url or`
    await expect(find('platform')).rejects.toThrow(`${words} WEIR_URL.`)
    await expect(find('deployment', {}, { apiKey: 'mine' })).rejects.toThrow(`${words} WEIR_DEPLOYMENT_URL.`)
    const { withdraw } = await announceServer(dataDir, OURS)
    await withdraw()
    await expect(find('platform')).rejects.toThrow(words)
  })

  it('is named by a flag, else by a URL, else by a port', async () => {
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
    // For the port of the running server, its own URL is used.
    const { url, urlSource } = await find('deployment', {}, { deploymentPort: '2025' })
    expect([url, urlSource]).toEqual([OURS.deploymentUrl, undefined])
    const sources = [{ url: 'http://c.example' }, {}, {}].map((flags, n) =>
      find('platform', flags, n === 1 ? urls : ports),
    )
    expect((await Promise.all(sources)).map((one) => one.urlSource)).toEqual(['--url', 'WEIR_URL', 'PORT'])
  })

  it('gets the stored key when it uses the data directory or is named and on this machine, else only a key that is given', async () => {
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

  it('names the key file only for a server that may get its key', async () => {
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
  ])('is refused for %j %j', async (flags, named, words) => {
    await expect(find('platform', flags, named)).rejects.toThrow(words)
  })

  it('is an error for a deployment when only the platform is named, or no graphs are hosted', async () => {
    await expect(find('deployment', {}, { url: 'https://a.example' })).rejects.toThrow(
      'WEIR_URL names a server but not the address of its deployment: set WEIR_DEPLOYMENT_URL as well, or give --url.',
    )
    await announceServer(dataDir, { ...OURS, deploymentUrl: undefined })
    await expect(find('deployment')).rejects.toThrow('hosts no graphs: it was started with an empty GRAPHS.')
  })
})

describe('the two APIs of one server', () => {
  const both = async (flags: TargetFlags, named: Partial<ClientSettings> = {}) => {
    const loginsFile = join(dataDir, 'logins.json')
    const settings = { ...NOTHING, apiKey: undefined, dataDir, loginsFile, ...named }
    const { platform, deployment } = await findTargets(flags, settings)
    return [platform.url, deployment?.url]
  }

  it('are those of the server that --url names: never the deployment of another one', async () => {
    await announceServer(dataDir, OURS)
    const elsewhere = { url: 'https://a.example' }
    expect(await both({})).toEqual([OURS.url, OURS.deploymentUrl])
    expect(await both({ url: OURS.url })).toEqual([OURS.url, OURS.deploymentUrl])
    expect(await both(elsewhere)).toEqual(['https://a.example', undefined])
    expect(await both(elsewhere, { deploymentUrl: 'https://b.example' })).toEqual([
      'https://a.example',
      'https://b.example',
    ])
    expect(await both({}, elsewhere)).toEqual(['https://a.example', undefined])
  })
})

describe('weir env', () => {
  const target = {
    url: 'http://[::1]:1985',
    urlSource: undefined,
    key: 'lsv2_pt_a',
    keySource: 'x',
    keyFile: 'x',
  }

  it('prints export lines for a shell, with quotes where needed', () => {
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

  it('leaves out variables without a value', () => {
    const text = shellCommands({ ...target, key: undefined }, undefined)
    expect(text).not.toMatch(/API_KEY|LANGGRAPH/)
  })
})
