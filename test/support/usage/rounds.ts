import { randomUUID } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import type { EngineAddress } from '../../../src/storage/clickhouse/embedded/address.ts'
import { bucketOf, bucketOrigin, chooseStride } from '../../../src/usage/report/stride.ts'
import { startTestClickHouse, temporaryDir, until } from '../stores/clickhouse/embedded-clickhouse.ts'
import { startPostgres } from '../stores/sql/postgres.ts'
import { seededRandom } from '../seeded-random.ts'
import { jsonBody, startWeir, type WeirEnvironment, type WeirProcess } from '../servers/weir-process.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = Date.now()
const PROJECTS = 5

/** A key and the dimensions of the traces that it sends. */
interface Sender {
  key: string
  short_key: string
  user_id: string | null
  workspace_id: string
}

/** The expected count of a trace. */
interface Expected {
  workspace_id: string
  start: number
  project: string
  user_id: string | null
  api_key: string
}

interface Operation {
  sender: Sender
  verb: 'post' | 'patch'
  record: Record<string, unknown>
}

/** Ranges that give each of the strides, some with whole hours and days and some without. */
const RANGES: readonly [from: number, to: number][] = [
  [NOW - 20 * HOUR - 1234, NOW + HOUR],
  [NOW - 3 * DAY + 777, NOW + 11 * HOUR],
  [NOW - 31 * DAY, NOW],
  [NOW - 80 * DAY + 5, NOW + DAY],
  [NOW - 360 * DAY, NOW + 2 * DAY],
  [NOW - 800 * DAY, NOW + 3 * DAY],
]

/**
 * Sends `traces` traces to two servers that have separate folders, but one Postgres and one ClickHouse. Operations are
 * sent in any order, three in ten of them twice, each to either server. During this a server is killed and restarted
 * `kills` times. Afterwards the API must return the counts of everything sent, for every grouping and stride, both from
 * the traces themselves and from rollups. `before` fills the ClickHouse before the first start.
 */
export async function usageRounds(
  traces: number,
  kills: number,
  before?: (engine: EngineAddress) => Promise<void>,
): Promise<void> {
  const folder = await temporaryDir()
  const engine = await startTestClickHouse(`${folder.dir}/engine`)
  const postgres = await startPostgres()
  const servers: WeirProcess[] = []
  try {
    await before?.(engine)
    const env: WeirEnvironment = {
      DATABASE_URL: await postgres.createDatabase(),
      CLICKHOUSE_URL: engine.url.replace('//', `//${engine.username}:${engine.password}@`),
      BLOB_URL: pathToFileURL(`${folder.dir}/blobs`).href,
    }
    const start = (i: number): Promise<WeirProcess> => startWeir(`${folder.dir}/server-${i}`, { ...env })
    servers.push(...(await Promise.all([start(0), start(1)])))
    const senders = await createSenders(servers[0]!)
    const { operations, expected } = makeLoad(senders, traces)
    await send(operations, servers, kills, async (i) => {
      await servers[i]!.kill()
      servers[i] = await start(i)
    })
    for (const server of servers) await server.drained(600_000)
    await expectExact(servers[1]!, expected, 'live')
    await rebuild(servers[0]!)
    await expectExact(servers[0]!, expected, 'after a rebuild')
  } finally {
    for (const server of servers) if (server.isAlive()) await server.kill()
    await engine.stop()
    await postgres.stop()
    await folder.remove()
  }
}

async function rebuild(server: WeirProcess): Promise<void> {
  const path = '/api/v1/orgs/current/billing/usage-rebuild'
  const status = async (init?: RequestInit) => (await server.json<{ status: string }>(path, init)).status
  expect(await status({ method: 'POST' })).toBe('running')
  await until('the rollups are rebuilt', async () => (await status()) === 'done', 300_000)
}

async function createSenders(server: WeirProcess): Promise<Sender[]> {
  const post = async <T>(path: string, body: object): Promise<T> =>
    await server.json(path, jsonBody('POST', body))
  const own = await server.json<{ id: string }[]>('/api/v1/workspaces')
  const workspaces = [own[0]!.id]
  for (const display_name of ['second', 'third'])
    workspaces.push((await post<{ id: string }>('/api/v1/workspaces', { display_name })).id)
  const senders: Sender[] = []
  type Key = { key: string; short_key: string }
  for (const n of [1, 2]) {
    const member = { email: `user${n}@example.org`, role: 'user' }
    const { user_id } = await post<{ user_id: string }>('/api/v1/orgs/current/members', member)
    const token = await post<Key>('/api/v1/orgs/current/personal-access-tokens', {
      description: 'test',
      user_id,
    })
    for (const workspace_id of workspaces) senders.push({ ...token, user_id, workspace_id })
  }
  const service = await post<Key>('/api/v1/orgs/current/service-keys', { description: 'test' })
  for (const workspace_id of workspaces) senders.push({ ...service, user_id: null, workspace_id })
  return senders
}

/**
 * Ways of sending a trace: with all fields about the places of its TraceRuns, with the ids of parents only, without the
 * root, or with children from another sender.
 */
const STYLES = ['all', 'all', 'all', 'all', 'parents only', 'no root', 'other sender'] as const

function makeLoad(
  senders: readonly Sender[],
  traces: number,
): { operations: Operation[]; expected: Expected[] } {
  const random = seededRandom(traces)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const operations: (Operation & { order: number })[] = []
  const expected: Expected[] = []
  for (let i = 0; i < traces; i++) {
    const sender = pick(senders)
    const style = pick(STYLES)
    const start = NOW - Math.floor(random() ** 4 * 790 * DAY)
    const project = `project ${Math.floor(random() * PROJECTS)} of ${sender.workspace_id}`
    const others = senders.filter(({ workspace_id }) => workspace_id === sender.workspace_id)
    const childSender = style === 'other sender' ? pick(others) : sender
    expected.push({
      workspace_id: sender.workspace_id,
      start,
      project,
      user_id: sender.user_id,
      api_key: sender.short_key,
    })
    const all = operationsOf({ style, start, project, sender, childSender })
    const again = all.filter(() => random() < 0.3)
    // Most operations of a trace arrive close together, some of them much later.
    for (const operation of [...all, ...again])
      operations.push({ ...operation, order: i + random() * (random() < 0.1 ? traces : 200) })
  }
  return { operations: operations.sort((a, b) => a.order - b.order), expected }
}

interface TraceShape {
  style: (typeof STYLES)[number]
  start: number
  project: string
  sender: Sender
  childSender: Sender
}

function operationsOf({ style, start, project, sender, childSender }: TraceShape): Operation[] {
  const [root, child, leaf] = [randomUUID(), randomUUID(), randomUUID()]
  const line = [root, child, leaf]
  const place = (n: number): Record<string, unknown> => {
    const parent = n === 0 ? {} : { parent_run_id: line[n - 1] }
    if (style === 'parents only') return parent
    const dotted_order = line.slice(0, n + 1).map((id) => `${stamp(start)}${id}`)
    return { ...parent, trace_id: root, dotted_order: dotted_order.join('.') }
  }
  // A trace without a root counts at the start of the TraceRun that arrives first. Here all TraceRuns have the same
  // start, so the order of arrival does not matter.
  return line.flatMap((id, n): Operation[] => {
    if (style === 'no root' && n === 0) return []
    const from = n === 0 ? sender : childSender
    const time = new Date(start).toISOString()
    const create = {
      id,
      ...place(n),
      name: `step ${n}`,
      run_type: 'chain',
      session_name: project,
      start_time: time,
    }
    const end = {
      id,
      ...(style === 'parents only' ? {} : place(n)),
      end_time: new Date(start + 5).toISOString(),
    }
    return [
      { sender: from, verb: 'post', record: create },
      { sender: from, verb: 'patch', record: end },
    ]
  })
}

function stamp(ms: number): string {
  return `${new Date(ms).toISOString().replace(/[-:.]/g, '').slice(0, -1)}000Z`
}

const PER_REQUEST = 100
const SENDERS = 6

/**
 * Sends requests in the order of their operations; each request has one sender. `kill` ends a server and restarts it.
 */
async function send(
  operations: readonly Operation[],
  servers: readonly WeirProcess[],
  kills: number,
  kill: (server: number) => Promise<void>,
): Promise<void> {
  const requests: Operation[][] = []
  const open = new Map<Sender, Operation[]>()
  for (const operation of operations) {
    const batch = open.get(operation.sender) ?? []
    open.set(operation.sender, batch)
    batch.push(operation)
    if (batch.length < PER_REQUEST) continue
    requests.push(batch)
    open.delete(operation.sender)
  }
  requests.push(...open.values())
  const random = seededRandom(requests.length)
  let sent = 0
  let killed = 0
  const sender = async (): Promise<void> => {
    for (let request = requests[sent++]; request; request = requests[sent++]) {
      const die = killed < kills && sent > ((killed + 0.5) * requests.length) / kills
      const dying = die ? kill(killed++ % servers.length) : undefined
      while (!(await accepted(servers[Math.floor(random() * servers.length)]!, request)));
      await dying
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sender))
  expect(killed).toBe(kills)
}

async function accepted(server: WeirProcess, request: readonly Operation[]): Promise<boolean> {
  const { key, workspace_id } = request[0]!.sender
  const of = (verb: string) => request.filter((each) => each.verb === verb).map(({ record }) => record)
  const headers = { 'x-api-key': key, 'x-tenant-id': workspace_id, 'content-type': 'application/json' }
  const body = JSON.stringify({ post: of('post'), patch: of('patch') })
  try {
    const response = await fetch(`${server.url}/runs/batch`, { method: 'POST', headers, body })
    const text = await response.text()
    if (response.status >= 500 || response.status === 429) return false
    expect(response.status, text).toBe(202)
    return true
  } catch (error) {
    if (error instanceof TypeError) return false // The connection broke.
    throw error
  }
}

interface Answer {
  stride: { days: number; hours: number }
  usage: { time_bucket: string; dimensions: Record<string, string | null>; traces: number }[]
}

async function expectExact(server: WeirProcess, expected: readonly Expected[], when: string): Promise<void> {
  const strides = new Set<string>()
  for (const [from, to] of RANGES) {
    for (const group_by of ['workspace', 'project', 'user', 'api_key']) {
      const range = { start_time: new Date(from).toISOString(), end_time: new Date(to).toISOString() }
      const query = new URLSearchParams({ ...range, group_by })
      const workspaces = new Set(expected.map(({ workspace_id }) => workspace_id))
      for (const id of workspaces) query.append('workspace_ids', id)
      const answer = await server.json<Answer>(
        `/api/v1/orgs/current/billing/granular-usage?${query.toString()}`,
      )
      strides.add(JSON.stringify(answer.stride))
      const got = answer.usage.map(({ time_bucket, dimensions, traces }) => {
        const { workspace_id, project_name, user_id, api_key_short_key } = dimensions
        const name = {
          workspace: workspace_id,
          project: project_name,
          user: user_id,
          api_key: api_key_short_key,
        }
        return `${Date.parse(time_bucket)} ${String(name[group_by as keyof typeof name])} ${traces}`
      })
      expect(got.toSorted(), `${when}: ${from} to ${to} by ${group_by}`).toEqual(
        plainCount(expected, from, to, group_by),
      )
    }
  }
  expect(strides.size).toBe(5)
}

function plainCount(expected: readonly Expected[], from: number, to: number, group_by: string): string[] {
  const stride = chooseStride(from, to)
  const counts = new Map<string, number>()
  for (const { workspace_id: workspace, start, project, user_id: user, api_key } of expected) {
    if (start < from || start >= to) continue
    const name = String({ workspace, project, user, api_key }[group_by])
    const key = `${bucketOf(start, bucketOrigin(from, stride), stride)} ${name}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].map(([key, traces]) => `${key} ${traces}`).toSorted()
}
