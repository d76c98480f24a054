import { randomInt } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type CuttingProxy, CUTS, startCuttingProxy } from '../proxies/cutting.ts'
import { eventually } from '../../eventually.ts'
import { KEY, startWeir, type WeirProcess } from '../../servers/weir-process.ts'

export interface CutPlans {
  cuts: number
  /** How often a server is killed with kill -9 during the campaign. */
  kills: number
  /** Settings of two servers, each of which handles some of the requests; undefined for a single server. */
  shared?: Readonly<Record<string, string>>
}

/** Servers behind a proxy that cuts streams. */
export interface CutBench {
  servers: WeirProcess[]
  proxy: CuttingProxy
  campaign: CutPlans
  killed: number
  /** True when the work is done and no server is killed any more. */
  isOver: boolean
}

const GRAPHS = fileURLToPath(new URL('../../../fixtures/graphs/langgraph.json', import.meta.url))
const NAME = 'fixtures'
const MAX_BYTES = 30_000
const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json' }

export function base({ url }: { url: string }): string {
  return `${url}/deployments/${NAME}`
}

/** A server; after a kill, the server that replaced it. */
async function start(dataDir: string, { shared }: CutPlans): Promise<WeirProcess> {
  await mkdir(dataDir, { recursive: true })
  const BLOB_URL = pathToFileURL(join(dirname(dataDir), 'blobs')).href
  const own = { GRAPHS, DEPLOYMENT_NAME: NAME, DEPLOYMENT_PORT: '0', RUN_TRACING: 'off', BLOB_URL }
  return startWeir(dataDir, { ...own, ...shared })
}

/** One of the running servers, as behind a load balancer; a killed server only if no server runs. */
export function pick({ servers }: Pick<CutBench, 'servers'>): WeirProcess {
  const alive = servers.filter((server) => server.isAlive())
  const from = alive.length === 0 ? servers : alive
  return from[randomInt(from.length)] as WeirProcess
}

/** Does the work while the servers are killed as often as planned, then removes the servers. */
export async function onCutBench<T>(campaign: CutPlans, work: (bench: CutBench) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-cuts-'))
  const servers: WeirProcess[] = []
  for (const name of campaign.shared === undefined ? ['a'] : ['a', 'b']) {
    servers.push(await start(join(dataDir, name), campaign))
  }
  const proxy = await startCuttingProxy(
    () => pick({ servers }).url,
    () => {
      if (proxy.cuts >= campaign.cuts) return undefined
      return { how: CUTS[randomInt(CUTS.length)] ?? 'cut', after: randomInt(MAX_BYTES) }
    },
  )
  const bench: CutBench = { servers, proxy, campaign, killed: 0, isOver: false }
  try {
    const killing = killAgainAndAgain(bench).catch((error: unknown) => {
      bench.isOver = true
      throw error
    })
    const working = work(bench).finally(() => (bench.isOver = true))
    const [done, killed] = await Promise.allSettled([working, killing])
    if (done.status === 'rejected') throw done.reason
    if (killed.status === 'rejected') throw killed.reason
    return done.value
  } finally {
    await proxy.close()
    await Promise.all(servers.map((server) => server.stop()))
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * Repeats the work until all kills have happened during it, because a server starts slowly on a busy machine. Returns
 * the sum of the counts.
 */
export async function whileKilled(bench: CutBench, work: () => Promise<number>): Promise<number> {
  let sum = 0
  do sum += await work()
  while (bench.killed < bench.campaign.kills && !bench.isOver)
  return sum
}

/** Kills the servers in turn, at moments spread evenly over the campaign's cuts. */
async function killAgainAndAgain(bench: CutBench): Promise<void> {
  const { campaign, proxy } = bench
  while (bench.killed < campaign.kills) {
    const due = ((bench.killed + 1) * campaign.cuts) / (campaign.kills + 1)
    await eventually(async () => {
      if (proxy.cuts < due && !bench.isOver) throw new Error(`${proxy.cuts} cuts instead of ${due}`)
    }, 600_000)
    if (bench.isOver) return
    const at = bench.killed % bench.servers.length
    const victim = bench.servers[at] as WeirProcess
    await victim.kill()
    bench.servers[at] = await start(victim.dataDir, campaign)
    bench.killed++
  }
}

export interface Asked {
  method?: string
  body?: string
  headers?: Record<string, string>
}

/** Sends a request, and repeats it while the server is down. */
export async function ask(bench: CutBench, path: string, init: Asked = {}, via = false): Promise<Response> {
  const attempt = async (): Promise<Response> => {
    const url = base(via ? bench.proxy : pick(bench)) + path
    const answer = await fetch(url, { ...init, headers: { ...HEADERS, ...init.headers } })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer
  }
  return eventually(attempt, 120_000)
}

/** The body of a response. The request is repeated when the server is killed during the response. */
export async function json<T>(bench: CutBench, path: string, body?: unknown): Promise<T> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  return eventually(async () => (await ask(bench, path, init)).json() as Promise<T>, 120_000)
}
