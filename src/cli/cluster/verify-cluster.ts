import { newUuid } from '../../base/ids.ts'
import { pause } from '../../base/pause.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { type ApiClient, isGone } from '../server/api-client.ts'
import { type Sent, sendTrace, sendTraces } from './send-traces.ts'

/** One row of the report of `weir cluster verify`. */
export interface Check {
  name: string
  passed: boolean
  /** What was measured, or what is wrong. */
  detail: string
}

export interface Verification {
  /** Traces a second that are sent, and for how long. */
  rate: number
  seconds: number
  /** Time within which all servers must show the same, in milliseconds. */
  patience: number
  /** Called with what happens now, in a few words. */
  onStep: (text: string) => void
}

type Project = SchemaTypes['session']

const LOOK_MS = 50
/** Number of traces whose way from each server to the others is timed. */
const TIMED = 5
const DAY_MS = 86_400_000
const PAGE = 100

/**
 * Tries servers that share their stores: what one of them takes, each must show, exactly once, count, and delete. The
 * traces are in a project of their own, which is deleted at the end, also after an error. @throws AppError when a server
 * does not answer at the start, or refuses what is sent
 */
export async function verifyCluster(
  servers: readonly ApiClient[],
  { rate, seconds, patience, onStep }: Verification,
): Promise<Check[]> {
  const checks: Check[] = []
  onStep('servers answer')
  checks.push(await sameRelease(servers))
  const name = `weir-cluster-verify-${newUuid()}`
  const first = servers[0]!
  const project = await first.json<Project>('/sessions', { method: 'POST', body: { name } })
  try {
    const seen = { servers, project, patience }
    checks.push(await sharedProject(seen))
    onStep('traces can be read at the other servers')
    const sent: Sent = { roots: [], calls: [], repeated: 0 }
    checks.push(await readElsewhere(seen, sent))
    const report = (taken: number): void => onStep(`${taken} of ${rate * seconds} traces are sent`)
    const more = await sendTraces(servers, { project: name, rate, seconds, onProgress: report })
    for (const key of ['roots', 'calls'] as const) sent[key].push(...more[key])
    const repeated = `${more.repeated} requests were sent again, because a server did not take them`
    checks.push({
      name: 'sent',
      passed: true,
      detail: `${sent.roots.length} traces of two runs; ${repeated}`,
    })
    onStep('each server lists all runs')
    checks.push(await sameLists(seen, sent))
    onStep('each server counts the traces')
    checks.push(await sameCounts(seen, 'usage', sent.roots.length))
    onStep('deletions')
    checks.push(await deletedTrace(seen, sent))
    checks.push(await deletedProject(seen))
    checks.push(await sameCounts(seen, 'usage after deletion', sent.roots.length))
    return checks
  } finally {
    // The project is gone already, unless an error came first.
    await first.text(`/sessions/${project.id}`, { method: 'DELETE' }).catch(() => undefined)
  }
}

/** The servers under test, and where the traces are. */
interface Seen {
  servers: readonly ApiClient[]
  project: Project
  patience: number
}

async function sameRelease(servers: readonly ApiClient[]): Promise<Check> {
  const infos = await Promise.all(servers.map((server) => server.json<SchemaTypes['info']>('/info')))
  const versions = [...new Set(infos.map(({ weir }) => weir.version))]
  const kinds = [...new Set(infos.map(({ weir }) => weir.clickhouse_kind ?? 'of an unknown kind'))]
  const detail = `${servers.length} servers, Weir ${versions.join(' and ')}, ClickHouse ${kinds.join(' and ')}`
  return { name: 'one release', passed: versions.length === 1 && kinds.length === 1, detail }
}

async function sharedProject({ servers, project, patience }: Seen): Promise<Check> {
  return await eventually('shared records', servers, patience, async (server) => {
    const { tenant_id } = await server.json<Project>(`/sessions/${project.id}`)
    return tenant_id === project.tenant_id ? undefined : 'has the project in another workspace'
  })
}

/** Sends a few traces to each server, and times until the others return them. */
async function readElsewhere({ servers, project, patience }: Seen, sent: Sent): Promise<Check> {
  const times: number[] = []
  for (let n = 0; n < TIMED * servers.length; n++) {
    await sendTrace(servers, n, project.name ?? '', sent)
    const begun = performance.now()
    const root = sent.roots.at(-1)!
    const check = await eventually('read elsewhere', servers, patience, async (server) => {
      const { end_time } = await server.json<{ end_time: string | null }>(`/runs/${root}`)
      return end_time === null ? 'has no end of the run' : undefined
    })
    if (!check.passed) return check
    times.push(performance.now() - begun)
  }
  const sorted = times.toSorted((a, b) => a - b).map(Math.round)
  const detail = `at all servers after ${sorted[Math.floor(sorted.length / 2)]} ms in the median, ${sorted.at(-1)} ms at most`
  return { name: 'read elsewhere', passed: true, detail }
}

async function sameLists({ servers, project, patience }: Seen, sent: Sent): Promise<Check> {
  const expected = new Set([...sent.roots, ...sent.calls])
  return await eventually('lists', servers, patience, async (server) => {
    const found = await listRuns(server, project.id)
    const distinct = new Set(found.map(({ id }) => id))
    const missing = [...expected].filter((id) => !distinct.has(id)).length
    const open = found.filter(({ status }) => status !== 'success').length
    if (missing + open === 0 && found.length === expected.size) return undefined
    return `lists ${found.length} runs, ${distinct.size} different ones, of ${expected.size}; ${missing} are missing, ${open} have no end`
  })
}

async function listRuns(server: ApiClient, project_id: string): Promise<{ id: string; status: string }[]> {
  const found: { id: string; status: string }[] = []
  for (let cursor: string | null = null; ; ) {
    const body = { session: [project_id], limit: PAGE, select: ['id', 'status'], ...(cursor && { cursor }) }
    const page: { runs: typeof found; cursors: { next: string | null } | null } = await server.json(
      '/runs/query',
      { method: 'POST', body },
    )
    found.push(...page.runs)
    cursor = page.cursors?.next ?? null
    if (cursor === null) return found
  }
}

/** A line of usage that is grouped by project. */
interface ProjectUsage {
  dimensions: { project_id: string }
  traces: number
}

async function sameCounts(
  { servers, project, patience }: Seen,
  name: string,
  traces: number,
): Promise<Check> {
  const now = Date.now()
  const query = new URLSearchParams({
    start_time: new Date(now - DAY_MS).toISOString(),
    end_time: new Date(now + DAY_MS).toISOString(),
    workspace_ids: project.tenant_id,
    group_by: 'project',
  })
  return await eventually(name, servers, patience, async (server) => {
    const { usage } = await server.json<{ usage: ProjectUsage[] }>(
      `/orgs/current/billing/granular-usage?${String(query)}`,
    )
    const own = usage.filter(({ dimensions }) => dimensions.project_id === project.id)
    const counted = own.reduce((sum, line) => sum + line.traces, 0)
    return counted === traces ? undefined : `counts ${counted} traces of ${traces}`
  })
}

/** Deletes the first trace at the last server. */
async function deletedTrace({ servers, patience }: Seen, sent: Sent): Promise<Check> {
  const [root, call] = [sent.roots[0]!, sent.calls[0]!]
  await servers.at(-1)!.text(`/traces/${root}`, { method: 'DELETE' })
  return await eventually('deleted trace', servers, patience, async (server) => {
    const left = await Promise.all([root, call].map((id) => isThere(server, `/runs/${id}`)))
    return left.includes(true) ? 'still has the trace' : undefined
  })
}

async function deletedProject({ servers, project, patience }: Seen): Promise<Check> {
  await servers.at(-1)!.text(`/sessions/${project.id}`, { method: 'DELETE' })
  return await eventually('deleted project', servers, patience, async (server) =>
    (await isThere(server, `/sessions/${project.id}`)) ? 'still has the project' : undefined,
  )
}

async function isThere(server: ApiClient, path: string): Promise<boolean> {
  try {
    await server.text(path)
    return true
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}

/**
 * Waits until `faultOf` finds no fault at any server. An error counts as a fault. The detail is the time that this took,
 * or the faults that are left when the patience has ended.
 */
async function eventually(
  name: string,
  servers: readonly ApiClient[],
  patience: number,
  faultOf: (server: ApiClient) => Promise<string | undefined>,
): Promise<Check> {
  const begun = performance.now()
  for (;;) {
    const faults = await Promise.all(
      servers.map(async (server) => {
        const fault = await faultOf(server).catch((error: unknown) => String(error))
        return fault === undefined ? [] : [`${server.url} ${fault}`]
      }),
    )
    const took = performance.now() - begun
    const found = faults.flat()
    if (found.length === 0) return { name, passed: true, detail: `equal after ${(took / 1000).toFixed(1)} s` }
    if (took > patience) return { name, passed: false, detail: found.join('; ') }
    await pause(LOOK_MS, new AbortController().signal)
  }
}
