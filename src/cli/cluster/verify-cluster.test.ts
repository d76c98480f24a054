import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { type ApiCall, type ApiClient, Refusal } from '../server/api-client.ts'
import { type Check, verifyCluster } from './verify-cluster.ts'

const PROJECT = { id: 'p', name: 'n', tenant_id: 'w' }

interface Run {
  id: string
  trace_id: string
  status: string
  end_time: string | null
}

/** What servers share. Counted traces stay when their runs are deleted. */
class Stores {
  readonly runs = new Map<string, Run>()
  readonly counted = new Set<string>()
  hasProject = false

  take({ post, patch }: { post: Run[]; patch: Run[] }): void {
    for (const { id, trace_id } of post) {
      const known = this.runs.get(id)
      this.runs.set(id, { status: 'pending', end_time: null, ...known, id, trace_id })
      this.counted.add(trace_id)
    }
    for (const { id, trace_id, end_time } of patch)
      this.runs.set(id, { id, trace_id, end_time, status: 'success' })
  }
}

type Requests = (method: string, path: string, body: unknown) => unknown

/** A server over the stores. */
function requestsOf(stores: Stores, version = '1', clickhouse_kind = 'replicas'): Requests {
  return (method, path, body) => {
    const [, kind, id = ''] = path.split('?')[0]!.split('/')
    if (kind === 'info') return { weir: { version, clickhouse_kind } }
    if (path === '/runs/batch') return stores.take(body as { post: Run[]; patch: Run[] })
    if (path === '/runs/query') return { runs: [...stores.runs.values()], cursors: { next: null } }
    if (kind === 'orgs')
      return { usage: [{ dimensions: { project_id: PROJECT.id }, traces: stores.counted.size }] }
    if (kind === 'traces') {
      for (const run of stores.runs.values()) if (run.trace_id === id) stores.runs.delete(run.id)
      return {}
    }
    if (kind === 'runs') return stores.runs.get(id) ?? missing()
    if (method === 'POST') stores.hasProject = true
    if (method === 'DELETE') {
      stores.hasProject = false
      stores.runs.clear()
    }
    return stores.hasProject ? PROJECT : method === 'DELETE' ? {} : missing()
  }
}

function missing(): never {
  throw new Refusal(404, 'not found')
}

function serverOf(n: number, requests: Requests): ApiClient {
  const json = async (path: string, { method = 'GET', body }: ApiCall = {}): Promise<never> =>
    structuredClone(requests(method, path, body)) as never
  return {
    url: `http://server-${n}`,
    json,
    text: async (path, call) => JSON.stringify((await json(path, call)) ?? {}),
    open: () => Promise.reject(new Error('not used')),
  }
}

async function verify(...all: Requests[]): Promise<{ failed: string[]; checks: Check[]; steps: string[] }> {
  const steps: string[] = []
  const checks = await verifyCluster(
    all.map((requests, n) => serverOf(n, requests)),
    { rate: 1000, seconds: 0.2, patience: 200, onStep: (text) => steps.push(text) },
  )
  return { failed: checks.flatMap(({ name, passed }) => (passed ? [] : [name])), checks, steps }
}

describe('servers that share everything', () => {
  it('pass, and nothing of it is left', async () => {
    const stores = new Stores()
    const { failed, checks } = await verify(requestsOf(stores), requestsOf(stores), requestsOf(stores))
    expect(failed).toEqual([])
    expect(checks.find(({ name }) => name === 'sent')?.detail).toMatch(/^215 traces of two runs; 0 requests/)
    expect(checks[0]?.detail).toBe('3 servers, Weir 1, ClickHouse replicas')
    expect([stores.hasProject, stores.runs.size, stores.counted.size]).toEqual([false, 0, 215])
  })

  it('pass although one of them takes only some of the requests', async () => {
    const stores = new Stores()
    const well = requestsOf(stores)
    let asked = 0
    const { failed, checks } = await verify(well, (method, path, body) => {
      if (path === '/runs/batch' && asked++ % 40 === 0) throw new AppError('store_unavailable')
      if (path === '/runs/batch' && asked % 50 === 0) throw new Refusal(503, 'later')
      return well(method, path, body)
    })
    expect(failed).toEqual([])
    expect(checks.find(({ name }) => name === 'sent')?.detail).toMatch(/; [1-9]\d* requests were sent again/)
  })
})

describe('a server that differs is named', () => {
  const cases: Record<string, [failed: string[], differ: (stores: Stores, well: Requests) => Requests]> = {
    'of another release': [['one release'], (stores) => requestsOf(stores, '2')],
    'with another kind of ClickHouse': [['one release'], (stores) => requestsOf(stores, '1', 'single')],
    'with stores of its own': [['shared records', 'read elsewhere'], () => requestsOf(new Stores())],
    'that lists a run twice': [
      ['lists'],
      (stores, well) => (method, path, body) =>
        path === '/runs/query'
          ? { runs: [...stores.runs.values(), ...stores.runs.values()], cursors: null }
          : well(method, path, body),
    ],
    'that has lost a run': [
      ['lists'],
      (stores, well) => (method, path, body) =>
        path === '/runs/query'
          ? { runs: [...stores.runs.values()].slice(1), cursors: null }
          : well(method, path, body),
    ],
    'that counts a trace too little': [
      ['usage', 'usage after deletion'],
      (stores, well) => (method, path, body) =>
        path.startsWith('/orgs')
          ? { usage: [{ dimensions: { project_id: PROJECT.id }, traces: stores.counted.size - 1 }] }
          : well(method, path, body),
    ],
    'that still returns what is deleted': [
      ['deleted trace', 'deleted project'],
      (_stores, well) => {
        const kept = new Map<string, unknown>()
        return (method, path, body) => {
          if (method !== 'GET' || path.includes('?')) return well(method, path, body)
          try {
            const found = well(method, path, body)
            kept.set(path, found)
            return found
          } catch (error) {
            if (kept.has(path) || path.startsWith('/runs/')) return kept.get(path) ?? {}
            throw error
          }
        }
      },
    ],
  }
  it.each(Object.entries(cases))('%s', async (_name, [expected, differ]) => {
    const stores = new Stores()
    const well = requestsOf(stores)
    const { failed, checks } = await verify(well, differ(stores, well))
    expect(failed.slice(0, expected.length)).toEqual(expected)
    const [first] = checks.filter(({ passed }) => !passed)
    if (expected[0] !== 'one release') expect(first?.detail).toContain('http://server-1 ')
  })
})

it('a refusal of what is sent ends the command, and the project is deleted', async () => {
  const stores = new Stores()
  const well = requestsOf(stores)
  const refusing: Requests = (method, path, body) => {
    if (path === '/runs/batch') throw new Refusal(403, 'no permission')
    return well(method, path, body)
  }
  await expect(verify(refusing)).rejects.toThrow('no permission')
  expect(stores.hasProject).toBe(false)
})
