import { Agent, request } from 'node:http'
import { answersAsDocumented, type OpenApiDocument } from '../../conformance/openapi/answers.ts'
import { type FuzzedDocument, type FuzzedRequest, requestSource } from './requests.ts'
import type { KnownRecords } from '../servers/known-records.ts'
import { seededRandom } from '../seeded-random.ts'
import { KEY, type WeirProcess } from '../servers/weir-process.ts'

/** Results of a campaign against one listener. */
export interface FuzzFindings {
  /** Number of responses by status. */
  statuses: Record<string, number>
  /** Operations that always or never succeeded. When there are many, the campaign tests little. */
  oneSided: string[]
  /** Responses that the document does not allow, each with its request: one example of each kind. */
  faults: string[]
  /**
   * Requests that took over a second in the campaign and again in each of ten repetitions after it, without its load.
   */
  slow: string[]
}

interface Answer {
  status: number
  type: string
  body: Uint8Array
  /** The cookie that it sets, if that is one of a session. */
  cookie?: string | undefined
  /** Milliseconds until the head of the response. */
  ms: number
}

interface Campaign {
  weir: Pick<WeirProcess, 'json' | 'url'>
  /** Path prefix: '' for the platform API, or that of a deployment. */
  prefix: string
  requests: number
  seed: number
  /** Records that requests refer to; the campaign adds the records that it finds in responses. */
  records: KnownRecords
  /** Ids that no request may change. */
  kept: readonly string[]
  /** Cookies of browser sessions, which sign some of the requests; the campaign adds those that it starts. */
  sessions: string[]
  /** The token that SCIM accepts; undefined where there is no SCIM. */
  scimToken?: string | undefined
}

const CONNECTIONS = 8
const SLOW_MS = 1_000
/**
 * Number of repetitions of a slow request: several, because other tests may use the processors for seconds at a time.
 */
const TURNS_ALONE = 10
/** SCIM has a type of its own. */
const JSON_TYPE = /^application\/(scim\+)?json\b/
const MAX_LEARNED_BYTES = 100_000
const MAX_FAULTS = 20
const MAX_SESSIONS = 100
/** Time after which requests that wait for a run are aborted. */
const FOLLOW_MS = 50
const HANG_MS = 30_000
const SESSION = /^weir_session\w*=[^;]+/
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** Operations whose answers contain ids of log lines, which no request can refer to. */
const LOGS = /logs$/
/** Operations that take as long as a run. */
const WAITS = /\/(?:wait|join|stream|cancel|live)(?:\?|$)/

/** Sends random requests from the listener's OpenAPI document, and checks every response against it. */
export async function fuzzListener(campaign: Campaign): Promise<FuzzFindings> {
  const { weir, prefix, seed, records, sessions, scimToken } = campaign
  const url = weir.url + prefix
  const document = await weir.json<FuzzedDocument & OpenApiDocument>(`${prefix}/openapi.json`)
  const check = answersAsDocumented(document)
  const own = JSON.stringify(await ownRecords(weir)).match(UUID) ?? []
  const kept = new Set([...own, ...campaign.kept])
  const random = seededRandom(seed)
  const source = requestSource(document, { random, records, key: KEY, kept, sessions, scimToken })
  const found = new Map<string, string>()
  const statuses: Record<string, number> = {}
  const seen = source.operations.map(() => ({ good: 0, failed: new Map<string, number>() }))
  const slow: FuzzedRequest[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  let sent = 0

  const one = async (): Promise<void> => {
    const index = sent++ % source.operations.length
    const drawn = source.draw(index)
    const answer = await send(url, drawn, agent).catch((error: Error) => error)
    if (answer instanceof Error)
      return void found.set(`${source.operations[index]}: ${answer.message}`, shown(drawn))
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    const { failed } = seen[index]!
    if (answer.status < 400) seen[index]!.good++
    else failed.set(kindOf(answer), (failed.get(kindOf(answer)) ?? 0) + 1)
    for (const fault of faultsOf(drawn, answer))
      if (!found.has(fault)) found.set(fault, `${shown(drawn)}\n    ${startOf(answer.body)}`)
    if (answer.ms > SLOW_MS && !WAITS.test(drawn.path)) slow.push(drawn)
    if (answer.cookie !== undefined && sessions.length < MAX_SESSIONS) sessions.push(answer.cookie)
    learn(source.operations[index]!, answer)
  }
  const faultsOf = ({ method, path }: FuzzedRequest, { status, type, body }: Answer): string[] => {
    const isFollowed = type.startsWith('text/event-stream') || WAITS.test(path)
    const answer = isFollowed && status < 300 ? new Uint8Array(0) : body
    if (isFollowed && status < 300) return []
    const faults = check.faults({ method, url: path, status, answer_type: type, answer })
    // Nothing that the server needs is away in the campaign.
    const isFailure = status >= 500 && status !== 501
    return isFailure ? [`${method} ${path.split('?')[0]}: ${status}`, ...faults] : faults
  }
  const learn = (operation: string, { status, type, body }: Answer): void => {
    if (status >= 300 || body.length > MAX_LEARNED_BYTES || !JSON_TYPE.test(type)) return
    const path = operation.slice(operation.indexOf(' ') + 1)
    if (LOGS.test(path)) return
    records.learn(path, JSON.parse(Buffer.from(body).toString('utf8') || 'null'))
  }
  const lane = async (): Promise<void> => {
    while (sent < campaign.requests) await one()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane))
  const stillSlow = await slowAlone(url, slow, agent)
  agent.destroy()
  return {
    statuses,
    oneSided: source.operations.flatMap((operation, i) => {
      const { good, failed } = seen[i]!
      return good === 0 || (failed.size === 0 && source.canFail(i))
        ? [`${operation}: ${good} succeeded, failed: ${JSON.stringify(Object.fromEntries(failed))}`]
        : []
    }),
    faults: [...found].slice(0, MAX_FAULTS).map(([fault, drawn]) => `${fault}\n    ${drawn}`),
    slow: stillSlow.map(shown),
  }
}

/** Records that the campaign must not change: its key, its user, the workspaces at the start and the organization. */
async function ownRecords(weir: Pick<WeirProcess, 'json'>): Promise<unknown> {
  return weir.json('/api/v1/auth/session')
}

async function slowAlone(
  url: string,
  requests: readonly FuzzedRequest[],
  agent: Agent,
): Promise<FuzzedRequest[]> {
  const still: FuzzedRequest[] = []
  for (const drawn of requests.slice(0, MAX_FAULTS)) {
    let fastest = Infinity
    for (let turn = 0; turn < TURNS_ALONE; turn++)
      fastest = Math.min(fastest, (await send(url, drawn, agent)).ms)
    if (fastest > SLOW_MS) still.push(drawn)
  }
  return still
}

function send(url: string, { method, path, headers, body }: FuzzedRequest, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const { hostname, port, pathname } = new URL(url)
    const prefix = pathname === '/' ? '' : pathname
    const length = body === undefined ? {} : { 'content-length': String(body.length) }
    const asked = request({
      agent,
      hostname,
      port,
      method,
      path: prefix + path,
      headers: { ...headers, ...length },
    })
    const waits = WAITS.test(path)
    const timer = setTimeout(
      () => asked.destroy(new Error(`no answer within ${waits ? FOLLOW_MS : HANG_MS} ms`)),
      waits ? FOLLOW_MS : HANG_MS,
    )
    asked.on('error', (error) => {
      clearTimeout(timer)
      // The operation waits for a run, which may take longer than the time limit.
      if (waits && error.message.startsWith('no answer'))
        resolve({ status: 200, type: '', body: Buffer.alloc(0), ms: 0 })
      else reject(error)
    })
    asked.on('response', (response) => {
      const ms = performance.now() - started
      const chunks: Buffer[] = []
      const done = (): void => {
        clearTimeout(timer)
        const type = response.headers['content-type'] ?? ''
        const cookie = SESSION.exec(response.headers['set-cookie']?.[0] ?? '')?.[0]
        resolve({ status: response.statusCode ?? 0, type, body: Buffer.concat(chunks), ms, cookie })
      }
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', done)
        .on('error', done)
    })
    asked.end(body)
  })
}

function shown({ method, path, headers, body }: FuzzedRequest): string {
  const { 'x-api-key': _key, ...rest } = headers
  return `${method} ${path.slice(0, 400)} ${JSON.stringify(rest)} ${body === undefined ? '' : startOf(body)}`
}

/** The status of a failure, and its code. */
function kindOf({ status, body }: Answer): string {
  const code = /"(?:code|scimType|error)":"?([\w-]+)/.exec(
    Buffer.from(body.subarray(0, 2000)).toString('latin1'),
  )
  return `${status} ${code?.[1] ?? ''}`
}

function startOf(body: Uint8Array): string {
  return JSON.stringify(Buffer.from(body.subarray(0, 400)).toString('latin1'))
}
