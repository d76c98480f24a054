import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { folderId } from './base/folder-id.ts'
import { startTime } from './storage/child-processes.ts'

/** Where a server listens; an address that stands for all interfaces is told as that of this machine. */
export interface ServerAddress {
  /** Of the platform API. */
  readonly url: string
  /** Of the deployment's API; undefined when no graphs are hosted. */
  readonly deploymentUrl: string | undefined
}

/** The living server of a data directory. */
export interface RunningServer extends ServerAddress {
  readonly pid: number
}

/** What DATA_DIR/server.json holds. It stays when the server has ended. */
interface AddressFile {
  url: string
  deployment_url: string | null
  /** Of the data directory: a copy of the file in another one names no server of that one. */
  folder: string
  /** Null once the server stops. */
  process: { pid: number; started: string } | null
}

const FILE = 'server.json'
/** Of addresses to listen on, not to connect to. */
const ALL_INTERFACES = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }

/** Says in `dataDir` where this process listens, so that commands find it (D-55). */
export async function announceServer(
  dataDir: string,
  { url, deploymentUrl }: ServerAddress,
): Promise<{
  /** No server of this directory has listened before. */
  isFirst: boolean
  /** To be called before the server closes its listeners: from then on commands do not find it. */
  withdraw(): Promise<void>
}> {
  const isFirst = (await readAddress(dataDir)) === undefined
  const started = await startTime(process.pid)
  const file: AddressFile = {
    url: toReachable(url),
    deployment_url: deploymentUrl === undefined ? null : toReachable(deploymentUrl),
    folder: await folderId(dataDir),
    process: started === undefined ? null : { pid: process.pid, started },
  }
  await writeAddress(dataDir, file)
  return { isFirst, withdraw: () => writeAddress(dataDir, { ...file, process: null }) }
}

/**
 * The server that runs on `dataDir` now. Undefined when there is none, when it stops, when the process that wrote the
 * file is dead, and when the file came with a copied folder: then its addresses may be anybody's. Never rejects.
 */
export async function findServer(dataDir: string): Promise<RunningServer | undefined> {
  const file = await readAddress(dataDir)
  const owner = file?.process
  if (!file || !owner) return undefined
  const folder = await folderId(dataDir).catch(() => undefined)
  if (file.folder !== folder || (await startTime(owner.pid)) !== owner.started) return undefined
  return { url: file.url, deploymentUrl: file.deployment_url ?? undefined, pid: owner.pid }
}

async function writeAddress(dataDir: string, file: AddressFile): Promise<void> {
  const path = join(dataDir, FILE)
  await writeFile(`${path}.part`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  await rename(`${path}.part`, path)
}

/** Undefined when there is none that can be read. */
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
  const { url, deployment_url, folder, process: owner } = value as Partial<Record<keyof AddressFile, unknown>>
  return (
    typeof url === 'string' &&
    URL.canParse(url) &&
    (deployment_url === null || typeof deployment_url === 'string') &&
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
