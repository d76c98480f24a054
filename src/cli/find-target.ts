import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../base/errors.ts'
import { isLoopback } from '../base/loopback.ts'
import { type ClientSettings, readClientSettings } from '../config.ts'
import { findServer, type RunningServer } from '../server-address.ts'

/** The two APIs of a server. */
export type Api = 'platform' | 'deployment'

/** The server that a command talks to, and the key that it shows. */
export interface Target {
  /** Without a slash at the end. */
  url: string
  key: string | undefined
  /** What the user named the key with, or the path of the file that it is from; undefined when there is no key. */
  keySource: string | undefined
  /** The file of a key that this server may be shown; undefined for a server of another machine. */
  keyFile: string | undefined
}

/** Flags of every command that talks to a server. */
export interface TargetFlags {
  url?: string | undefined
  key?: string | undefined
}

const KEY_FILE = 'api-key'
const LAST_PORT = 65_535

/**
 * The server that flags or environment name, else the one that runs on DATA_DIR. A key of DATA_DIR is shown to no
 * other: what listens on a default port may be anybody's.
 * @throws AppError invalid_request when none is named and none runs
 */
export async function findTarget(
  api: Api,
  flags: TargetFlags,
  settings: ClientSettings = readClientSettings(),
): Promise<Target> {
  const running = await findServer(settings.dataDir)
  const url = namedUrl(api, flags, settings, running) ?? runningUrl(api, settings, running)
  const isOurs = url === running?.url || url === running?.deploymentUrl || isLoopback(new URL(url).hostname)
  const keyFile = isOurs ? join(settings.dataDir, KEY_FILE) : undefined
  const target = { url: url.replace(/\/+$/, ''), keyFile }
  if (flags.key !== undefined) return { ...target, key: flags.key, keySource: '--key' }
  if (settings.apiKey !== undefined) return { ...target, key: settings.apiKey, keySource: 'WEIR_API_KEY' }
  const kept = keyFile === undefined ? '' : await readFile(keyFile, 'utf8').catch(() => '')
  return kept.trim() === ''
    ? { ...target, key: undefined, keySource: undefined }
    : { ...target, key: kept.trim(), keySource: keyFile }
}

/** Undefined when nothing names one. */
function namedUrl(
  api: Api,
  flags: TargetFlags,
  settings: ClientSettings,
  running: RunningServer | undefined,
): string | undefined {
  const isPlatform = api === 'platform'
  if (flags.url !== undefined) return checkedUrl(flags.url, '--url')
  const [setting, url] = isPlatform
    ? ['WEIR_URL', settings.url]
    : ['WEIR_DEPLOYMENT_URL', settings.deploymentUrl]
  if (url !== undefined) return checkedUrl(url, setting)
  const port = isPlatform ? settings.port : settings.deploymentPort
  if (port !== undefined) {
    const listening = isPlatform ? running?.url : running?.deploymentUrl
    if (listening !== undefined && new URL(listening).port === port) return listening
    if (!/^\d{1,5}$/.test(port) || Number(port) > LAST_PORT)
      throw invalid(
        `${isPlatform ? 'PORT' : 'DEPLOYMENT_PORT'} must be a port up to ${LAST_PORT}, and is "${port}".`,
      )
    return `http://127.0.0.1:${port}`
  }
  if (isPlatform || settings.url === undefined) return undefined
  throw invalid(
    'WEIR_URL names a server but not the address of its deployment: set WEIR_DEPLOYMENT_URL as well, or give --url.',
  )
}

/** @throws AppError invalid_request when none runs, or it hosts no graphs */
function runningUrl(api: Api, { dataDir }: ClientSettings, running: RunningServer | undefined): string {
  if (running === undefined) {
    const setting = api === 'platform' ? 'WEIR_URL' : 'WEIR_DEPLOYMENT_URL'
    throw invalid(
      `No server runs on ${dataDir} (DATA_DIR). Start it with npm start, set DATA_DIR to the folder of one that runs, or name its address with --url or ${setting}.`,
    )
  }
  const url = api === 'platform' ? running.url : running.deploymentUrl
  if (url !== undefined) return url
  throw invalid(
    `The server that runs on ${dataDir} (DATA_DIR) hosts no graphs: it was started with an empty GRAPHS. Another deployment is named with --url or WEIR_DEPLOYMENT_URL.`,
  )
}

function checkedUrl(text: string, source: string): string {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text
  const isBare = !text.includes('://') && URL.canParse(`http://${text}`)
  const guess = isBare ? `http://${text}` : 'http://127.0.0.1:1984'
  throw invalid(`${source} must be an address such as ${guess}, and is "${text}".`)
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', { message })
}
