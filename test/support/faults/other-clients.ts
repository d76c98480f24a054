import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

/** The URL and the admin key of a server, and the path of its deployment. */
export interface Reached {
  url: string
  /** Key of an admin of all workspaces. */
  key: string
  /** Path of the deployment at `url`. The deployment belongs to the first workspace. */
  deployment: string
}

/** The responses that the clients received during some time. */
export interface Seen {
  requests: number
  /** Responses other than 2xx. */
  refused: string[]
  /** The 99th percentile of the durations of responses, in milliseconds. */
  p99_ms: number
}

/** Clients with keys of their own, each with a workspace of its own for its traces. */
export interface OtherClients {
  /** Lets the clients work until `until` is settled; resolves with their responses. */
  during(until: Promise<unknown>): Promise<Seen>
}

interface Client {
  /** Key of the client's own workspace. */
  own: string
  /** Key of the deployment's workspace. */
  ofDeployment: string
}

const CLIENTS = 10
const PAUSE_MS = 20

/** Creates ten clients that send traces, query them, and create and search threads. */
export async function createOtherClients(reached: Reached): Promise<OtherClients> {
  const { url, key, deployment } = reached
  const [first] = (await asJson(await ask(url, key, '/workspaces'))) as { id: string }[]
  const clients: Client[] = []
  for (let n = 0; n < CLIENTS; n++) {
    const made = (await asJson(
      await ask(url, key, '/workspaces', { display_name: `other ${randomUUID()}` }),
    )) as { id: string }
    clients.push({
      own: await newKey(reached, made.id, 'user'),
      ofDeployment: await newKey(reached, first?.id ?? '', 'user'),
    })
  }
  const rounds = (client: Client): [key: string, path: string, body?: unknown][] => [
    [client.own, '/ok'],
    [client.own, '/runs', { id: randomUUID(), name: 'other', run_type: 'chain', inputs: { a: 1 } }],
    [client.own, '/runs/query', { limit: 5 }],
    [client.ofDeployment, `${deployment}/threads`, { metadata: { of: 'others' } }],
    [client.ofDeployment, `${deployment}/threads/search`, { limit: 3 }],
  ]
  return {
    async during(until) {
      const times: number[] = []
      const refused: string[] = []
      let isOn = true
      void until.finally(() => (isOn = false)).catch(() => undefined)
      const work = async (client: Client): Promise<void> => {
        while (isOn) {
          for (const [as, path, body] of rounds(client)) {
            const started = performance.now()
            const answer = await ask(url, as, path, body)
            const text = await answer.text()
            times.push(performance.now() - started)
            if (!answer.ok) refused.push(`${path}: ${answer.status} ${text}`)
          }
          await delay(PAUSE_MS)
        }
      }
      await Promise.all(clients.map(work))
      await until
      times.sort((a, b) => a - b)
      return { requests: times.length, refused, p99_ms: times[Math.floor(times.length * 0.99)] ?? 0 }
    },
  }
}

export async function newKey(
  { url, key }: Pick<Reached, 'url' | 'key'>,
  workspace_id: string,
  role: 'admin' | 'user' | 'viewer',
): Promise<string> {
  const body = {
    description: 'other',
    role,
    workspaces: [workspace_id],
    default_workspace_id: workspace_id,
  }
  return ((await asJson(await ask(url, key, '/orgs/current/service-keys', body))) as { key: string }).key
}

function ask(url: string, key: string, path: string, body?: unknown): Promise<Response> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  return fetch(
    url + path,
    body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
  )
}

async function asJson(answer: Response): Promise<unknown> {
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
