import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { generateApiKey, hashApiKey, shortKey } from '../../../src/identity/api-keys.ts'
import { newUuid } from '../../../src/base/ids.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { startWeir, type WeirProcess } from './server.ts'
import type { LentWeir } from './shared.ts'

export const DEPLOYMENT_NAME = 'fixtures'

/** Servers that test files borrow, one file at a time. */
export interface WeirPool {
  /** Lends a server that hosts the graphs of a folder of test/fixtures. */
  lend(whose: 'new organization' | 'deployment', folder: string): Promise<LentWeir>
  /** Takes a server back. If the server has logged errors, this rejects, and the server is not lent again. */
  takeBack(id: string): Promise<void>
  /** Stops all servers; rejects when one exits with an error. */
  stop(): Promise<void>
}

/** Creates a second organization with one workspace, for which there is no API. Returns the key of its admin. */
async function makeOrganization(file: string): Promise<string> {
  const database = openSqlite(file)
  try {
    const identity = createIdentityStore(database)
    const [organization_id, workspace_id] = [newUuid(), newUuid()]
    const created_at = Date.now()
    const key = generateApiKey('service')
    const actor = { api_key_id: newUuid(), short_key: 'test', user_id: null, at: created_at }
    await database.query('INSERT INTO organizations (id, display_name, created_at) VALUES (?, ?, ?)', [
      organization_id,
      'Default organization',
      created_at,
    ])
    await identity.createWorkspace(
      { id: workspace_id, organization_id, display_name: 'Default', created_at },
      actor,
    )
    const stored = {
      id: actor.api_key_id,
      organization_id,
      key_hash: hashApiKey(key),
      short_key: shortKey(key),
      description: 'test',
      user_id: null,
      role: 'admin',
      read_only: false,
      workspace_ids: null,
      default_workspace_id: workspace_id,
      created_at,
      expires_at: null,
      last_used_at: null,
    } as const
    if (!(await identity.createKey(stored, actor))) throw new Error('the short key is taken')
    return key
  } finally {
    await database.close()
  }
}

/** Folders of the same graphs, in TypeScript and in Python. */
export type SharedGraphs = 'graphs' | 'python-graphs'

export function sharedGraphs(): SharedGraphs {
  return process.env['SHARED_GRAPHS'] === 'python-graphs' ? 'python-graphs' : 'graphs'
}

const TWINS: Readonly<Record<string, string>> = {
  'auth-graphs': 'python-auth',
  'http-graphs': 'python-http',
  'store-index': 'python-store',
  'projects/react-agent': 'python-projects/react-agent',
  'projects/memory-agent': 'python-projects/memory-agent',
  'projects/portal': 'python-projects/portal',
}

/** The folder in test/fixtures that has the same project as `folder`, in the language that SHARED_GRAPHS names. */
export function twinOf(folder: string): string {
  return (sharedGraphs() === 'python-graphs' && TWINS[folder]) || folder
}

/** Creates a pool. It starts a server when no server with the graphs is free. */
export function startWeirPool(): WeirPool {
  const all: WeirProcess[] = []
  const free = new Map<string, WeirProcess[]>()
  const lent = new Map<string, { weir: WeirProcess; folder: string }>()

  async function start(folder: string): Promise<WeirProcess> {
    const GRAPHS = fileURLToPath(new URL(`../../fixtures/${folder}/langgraph.json`, import.meta.url))
    const weir = await startWeir({ GRAPHS, DEPLOYMENT_NAME, OTLP_GRPC_PORT: '0' })
    all.push(weir)
    return weir
  }

  return {
    async lend(whose, folder) {
      const weir = free.get(folder)?.pop() ?? (await start(folder))
      const id = newUuid()
      lent.set(id, { weir, folder })
      const key = whose === 'deployment' ? weir.key : await makeOrganization(join(weir.dataDir, 'weir.db'))
      const { url, deploymentUrl, otlpGrpcUrl } = weir
      return { id, url, deploymentUrl, otlpGrpcUrl, key }
    },
    async takeBack(id) {
      const found = lent.get(id)
      if (found === undefined) throw new Error(`no server of id ${id} is lent`)
      const { weir, folder } = found
      lent.delete(id)
      const errors = weir.errors()
      if (errors.length > 0) throw new Error(`weir logged errors:\n${errors.join('\n')}`)
      free.set(folder, [...(free.get(folder) ?? []), weir])
    },
    async stop() {
      const codes = await Promise.all(all.map((weir) => weir.stop()))
      if (codes.some((code) => code !== 0)) throw new Error(`servers ended with ${codes.join(', ')}`)
    },
  }
}
