import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { isLoopback } from '../../base/loopback.ts'
import { type ClientSettings, readClientSettings } from './client-settings.ts'
import { type Login, readLogins } from './logins.ts'
import { findServer, type RunningServer } from '../../start/server-address.ts'

export type Api = 'platform' | 'deployment'

/** The server that a command calls, and the key that it sends. */
export interface Target {
  /** URL of the API, without a trailing slash. */
  url: string
  /** The flag or variable that gave the address; undefined if it is the address of the server that uses DATA_DIR. */
  urlSource: string | undefined
  /** Address of the server that uses DATA_DIR, if `url` names another server of this machine. */
  movedTo?: string | undefined
  key: string | undefined
  /** The flag or variable that gave the key, or the path of its file; undefined without a key. */
  keySource: string | undefined
  /** Whether the key is that of `weir login`. */
  isLogin?: boolean
  /** The flag of the command that names a key; default: `--key`. */
  keyFlag?: string | undefined
  /** The key file of this machine's server; undefined for a server on another machine, which must not get that key. */
  keyFile: string | undefined
  /** Proves to the server that this command runs on its machine; undefined for another server. */
  localSecret?: string | undefined
}

export interface TargetFlags {
  url?: string | undefined
  key?: string | undefined
}

const KEY_FILE = 'api-key'
const LAST_PORT = 65_535
/** The path at the end of addresses for LangSmith's clients. */
const PLATFORM_PATH = /(\/api(\/v1)?)?\/*$/

/**
 * The server that flags or environment name, otherwise the one that uses DATA_DIR. A default port is never tried,
 * because another program may listen there and would get the key of DATA_DIR.
 * @throws AppError invalid_request when no server is named and none runs
 */
export async function findTarget(
  api: Api,
  flags: TargetFlags,
  settings: ClientSettings = readClientSettings(),
): Promise<Target> {
  const running = await findServer(settings.dataDir)
  const named = namedUrl(api, flags, settings, running)
  const url = (named?.url ?? runningUrl(api, settings, running)).replace(
    api === 'platform' ? PLATFORM_PATH : /\/+$/,
    '',
  )
  const isRunning = url === running?.url || url === running?.deploymentUrl
  const isOurs = isRunning || isLoopback(new URL(url).hostname)
  const keyFile = isOurs ? join(resolve(settings.dataDir), KEY_FILE) : undefined
  const movedTo =
    isRunning || !isOurs ? undefined : api === 'platform' ? running?.url : running?.deploymentUrl
  const localSecret = isRunning ? running?.localSecret : undefined
  const target = { url, urlSource: isRunning ? undefined : named?.source, movedTo, keyFile, localSecret }
  if (flags.key !== undefined) return { ...target, key: flags.key.trim(), keySource: '--key' }
  if (settings.apiKey !== undefined) return { ...target, key: settings.apiKey, keySource: 'WEIR_API_KEY' }
  const login = (await readLogins(settings.loginsFile))[url]
  if (login !== undefined && !hasEnded(login))
    return { ...target, key: login.key, keySource: settings.loginsFile, isLogin: true }
  const kept = keyFile === undefined ? '' : await readFile(keyFile, 'utf8').catch(() => '')
  return kept.trim() === ''
    ? { ...target, key: undefined, keySource: undefined }
    : { ...target, key: kept.trim(), keySource: keyFile }
}

function hasEnded({ expires_at }: Login): boolean {
  return expires_at !== null && Date.parse(expires_at) <= Date.now()
}

/**
 * Both APIs of the server that flags or environment name, otherwise of the one that uses DATA_DIR. `flags.url` names
 * the platform API. The deployment is undefined if the server hosts no graphs, or is on another machine and
 * WEIR_DEPLOYMENT_URL is not set. @throws AppError invalid_request when no server is named and none runs
 */
export async function findTargets(
  flags: TargetFlags,
  settings: ClientSettings = readClientSettings(),
): Promise<{ platform: Target; deployment: Target | undefined }> {
  const platform = await findTarget('platform', flags, settings)
  const running = await findServer(settings.dataDir)
  const isOther = flags.url !== undefined && platform.url !== running?.url
  const named = isOther ? { ...settings, url: platform.url } : settings
  const deployment = await findTarget('deployment', { key: flags.key }, named).catch(() => undefined)
  return { platform, deployment }
}

/** The URL from flags or environment, and its source; undefined if neither names one. */
function namedUrl(
  api: Api,
  flags: TargetFlags,
  settings: ClientSettings,
  running: RunningServer | undefined,
): { url: string; source: string } | undefined {
  const isPlatform = api === 'platform'
  if (flags.url !== undefined) return { url: checkedUrl(flags.url, '--url'), source: '--url' }
  const [setting, url] = isPlatform
    ? ['WEIR_URL', settings.url]
    : ['WEIR_DEPLOYMENT_URL', settings.deploymentUrl]
  if (url !== undefined) return { url: checkedUrl(url, setting), source: setting }
  const port = isPlatform ? settings.port : settings.deploymentPort
  if (port !== undefined) {
    const source = isPlatform ? 'PORT' : 'DEPLOYMENT_PORT'
    const listening = isPlatform ? running?.url : running?.deploymentUrl
    if (listening !== undefined && new URL(listening).port === port) return { url: listening, source }
    if (!/^\d{1,5}$/.test(port) || Number(port) > LAST_PORT)
      throw invalid(`${source} must be a port up to ${LAST_PORT}, and is "${port}".`)
    return { url: `http://127.0.0.1:${port}`, source }
  }
  if (isPlatform || settings.url === undefined) return undefined
  throw invalid(
    'WEIR_URL names a server but not the address of its deployment: set WEIR_DEPLOYMENT_URL as well, or give --url.',
  )
}

/** @throws AppError invalid_request when no server runs, or it hosts no graphs */
function runningUrl(api: Api, settings: ClientSettings, running: RunningServer | undefined): string {
  const dataDir = resolve(settings.dataDir)
  if (running === undefined) {
    const setting = api === 'platform' ? 'WEIR_URL' : 'WEIR_DEPLOYMENT_URL'
    throw invalid(
      `No server runs on ${dataDir} (DATA_DIR). Start it with npm start, set DATA_DIR to the folder of one that runs, or name its address with --url or ${setting}.`,
    )
  }
  const url = api === 'platform' ? running.url : running.deploymentUrl
  if (url !== undefined) return url
  throw invalid(
    `The server that runs on ${dataDir} (DATA_DIR) hosts no graphs: it was started with an empty GRAPHS. Name another deployment with --url or WEIR_DEPLOYMENT_URL.`,
  )
}

function checkedUrl(text: string, source: string): string {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text
  const hasNoScheme = !text.includes('://') && URL.canParse(`http://${text}`)
  const guess = hasNoScheme ? `http://${text}` : 'http://127.0.0.1:1984'
  throw invalid(`${source} must be an address such as ${guess}, and is "${text}".`)
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', { message })
}
