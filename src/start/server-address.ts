import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { folderId } from '../base/files/folder-id.ts'
import type { Config } from '../config.ts'
import { hashApiKey } from '../identity/api-keys.ts'
import type { Bootstrapped } from '../identity/bootstrap.ts'
import { type BrowserSessionStore, hashSecret, newSecret } from '../identity/browser-sessions.ts'
import type { IdentityStore } from '../identity/identity-store.ts'
import { startTime } from '../storage/child-processes.ts'

/** URLs of a server; an address of all interfaces is replaced by the loopback address. */
export interface ServerAddress {
  /** The platform API. */
  readonly url: string
  /** The deployment API; undefined if no graphs are hosted. */
  readonly deploymentUrl: string | undefined
  /** OTLP over gRPC; undefined if it is off. */
  readonly otlpGrpcUrl?: string | undefined
}

export interface RunningServer extends ServerAddress {
  readonly pid: number
  /** Proves to the server that a command reads this file; undefined for an older server. */
  readonly localSecret?: string | undefined
}

/** Content of DATA_DIR/server.json. The file is kept after the server has ended. */
interface AddressFile {
  url: string
  deployment_url: string | null
  /** Missing in files of older servers. */
  otlp_grpc_url?: string | null
  /** Missing in files of older servers. */
  local_secret?: string | undefined
  /** Id of the data directory, so that a copy of the file in another directory is recognised. */
  folder: string
  /** Null once the server stops. */
  process: { pid: number; started: string } | null
}

const FILE = 'server.json'
/** Addresses on which a server can listen, but to which clients cannot connect, and their replacements. */
const ALL_INTERFACES = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }

/** Writes the addresses of this process to `dataDir`, so that commands find it (D-55). */
export async function announceServer(
  dataDir: string,
  { url, deploymentUrl, otlpGrpcUrl }: ServerAddress,
  localSecret?: string,
): Promise<{
  /** Whether this is the first server that uses this directory. */
  isFirst: boolean
  /** Addresses that differ from those of the last start in this directory. */
  movedAddresses: MovedAddress[]
  /** Removes the addresses. Must be called before the listeners close. */
  withdraw(): Promise<void>
}> {
  const last = await readAddress(dataDir)
  const started = await startTime(process.pid)
  const folder = await folderId(dataDir)
  const file: AddressFile = {
    url: toReachable(url),
    deployment_url: deploymentUrl === undefined ? null : toReachable(deploymentUrl),
    otlp_grpc_url: otlpGrpcUrl === undefined ? null : toReachable(otlpGrpcUrl),
    local_secret: localSecret,
    folder,
    process: started === undefined ? null : { pid: process.pid, started },
  }
  await writeAddress(dataDir, file)
  return {
    isFirst: last === undefined,
    movedAddresses: last?.folder === folder ? compareAddresses(addressOf(last), file) : [],
    withdraw: () => writeAddress(dataDir, { ...file, process: null }),
  }
}

/**
 * The running server that uses `dataDir`. Undefined if there is none, it is stopping, its process has ended, or the
 * folder is a copy, since another program may listen at its addresses. Never rejects.
 */
export async function findServer(dataDir: string): Promise<RunningServer | undefined> {
  const file = await readAddress(dataDir)
  const owner = file?.process
  if (!file || !owner) return undefined
  const folder = await folderId(dataDir).catch(() => undefined)
  if (file.folder !== folder || (await startTime(owner.pid)) !== owner.started) return undefined
  return { ...addressOf(file), pid: owner.pid, localSecret: file.local_secret }
}

function addressOf({ url, deployment_url, otlp_grpc_url }: AddressFile): ServerAddress {
  return { url, deploymentUrl: deployment_url ?? undefined, otlpGrpcUrl: otlp_grpc_url ?? undefined }
}

/** An address of the last start, and its current replacement. */
export interface MovedAddress {
  readonly from: string
  readonly to: string
}

/**
 * The addresses of the APIs that differ from those of the last start; an API that was added or removed is not among
 * them.
 */
function compareAddresses(last: ServerAddress, { url, deployment_url }: AddressFile): MovedAddress[] {
  const pairs = [
    [last.url, url],
    [last.deploymentUrl, deployment_url],
  ]
  return pairs.flatMap(([from, to]) => (from && to && from !== to ? [{ from, to }] : []))
}

async function writeAddress(dataDir: string, file: AddressFile): Promise<void> {
  const path = join(dataDir, FILE)
  await writeFile(`${path}.part`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  await rename(`${path}.part`, path)
}

/** Reads the file; undefined if it is missing or invalid. */
async function readAddress(dataDir: string): Promise<AddressFile | undefined> {
  const text = await readFile(join(dataDir, FILE), 'utf8').catch(() => '')
  try {
    const value: unknown = JSON.parse(text)
    return isAddressFile(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isAddressFile(value: unknown): value is AddressFile {
  if (typeof value !== 'object' || value === null) return false
  const {
    url,
    deployment_url,
    otlp_grpc_url,
    local_secret,
    folder,
    process: owner,
  } = value as Partial<Record<keyof AddressFile, unknown>>
  return (
    typeof url === 'string' &&
    URL.canParse(url) &&
    (deployment_url === null || typeof deployment_url === 'string') &&
    (otlp_grpc_url === undefined || otlp_grpc_url === null || typeof otlp_grpc_url === 'string') &&
    (local_secret === undefined || typeof local_secret === 'string') &&
    typeof folder === 'string' &&
    (owner === null || isProcess(owner))
  )
}

function isProcess(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { pid, started } = value as { pid?: unknown; started?: unknown }
  return Number.isSafeInteger(pid) && Number(pid) > 0 && typeof started === 'string'
}

function toReachable(url: string): string {
  const { hostname } = new URL(url)
  const local = ALL_INTERFACES[hostname as keyof typeof ALL_INTERFACES]
  return local === undefined ? url : url.replace(hostname, local)
}

/** Makes links to the web interface of a server that listens at `url`. */
export function createAppLinks(
  { publicUrl }: Pick<Config, 'publicUrl'>,
  url: string,
  {
    identity: { key },
    identityStore,
    sessions,
  }: {
    identity: Pick<Bootstrapped, 'key'>
    identityStore: Pick<IdentityStore, 'findKey'>
    sessions: Pick<BrowserSessionStore, 'addTicket'>
  },
  clock = systemClock,
): AppLinks {
  const page = `${(publicUrl ?? toReachable(url)).replace(/\/+$/, '')}/app/`
  return {
    page,
    async signIn() {
      const found = key === undefined ? undefined : await identityStore.findKey(hashApiKey(key))
      const ticket = newSecret()
      const isMade =
        found !== undefined &&
        (await sessions.addTicket(hashSecret(ticket), found.grant.api_key_id, clock.now()))
      return isMade ? `${page}#ticket=${ticket}` : page
    },
  }
}

export interface AppLinks {
  readonly page: string
  /** A link that signs in once with the server's first key; without a ticket if that key is not known. */
  signIn(): Promise<string>
}
