import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { API_KEY, startWeir, type WeirProcess } from '../../support/servers/server.ts'
import { createOtherClients } from '../../support/faults/other-clients.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const MIB = 1 << 20
/** Length of the windows in which durations are compared. */
const WINDOW_MS = 20_000

/** A connection of the attacker. It sends a few bytes whenever it is told to. */
interface Sender {
  socket: Socket
  answer(): string
  isClosed(): boolean
}

async function open(url: string, text: string): Promise<Sender> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk) => (answer = (answer + String(chunk)).slice(0, 1000)))
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(text)
  return { socket, answer: () => answer, isClosed: () => socket.closed }
}

function head(path: string, key: string, framing: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`
}

const announces = (bytes: number): string => `content-length: ${bytes}`
const CHUNKED = 'transfer-encoding: chunked'

/** Opens many incomplete requests of every kind on one listener. */
async function attack(url: string, path: string, key: string): Promise<Sender[]> {
  const senders: Promise<Sender>[] = []
  for (const megabytes of [200, 56])
    senders.push(open(url, head('/runs/multipart', key, announces(megabytes * MIB))))
  for (let i = 0; i < 20; i++) {
    const large = open(url, head(path, key, announces(19 * MIB)))
    senders.push(large)
    const { socket } = await large
    socket.write(Buffer.alloc(15 * MIB, 'x'))
  }
  for (let i = 0; i < 50; i++) {
    senders.push(open(url, 'GET / HTTP/1.1\r\n'))
    senders.push(open(url, ''))
    senders.push(open(url, head(path, 'nobody', announces(10_000))))
    senders.push(open(url, `${head(path, key, CHUNKED)}1\r\n[\r\n`))
  }
  return Promise.all(senders)
}

/** An admin key that the other clients do not use. */
async function otherKey(weir: WeirProcess): Promise<string> {
  const { id } = (await weir.json<{ id: string }[]>('/workspaces'))[0] ?? { id: '' }
  const body = JSON.stringify({ description: 'attacker', default_workspace_id: id })
  const headers = { 'content-type': 'application/json' }
  const made = await weir.request('/orgs/current/personal-access-tokens', { method: 'POST', headers, body })
  return ((await made.json()) as { key: string }).key
}

it('INGEST-14: incomplete and slow requests are closed, and ten other clients are not affected', async () => {
  const weir = await startWeir({ GRAPHS, DEPLOYMENT_NAME: 'fixtures' })
  onTestFinished(async () => void (await weir.stop()))
  const key = await otherKey(weir)
  const others = await createOtherClients({
    url: weir.url,
    key: weir.key,
    deployment: '/deployments/fixtures',
  })
  await others.during(delay(WINDOW_MS / 4))
  const before = await others.during(delay(WINDOW_MS))

  const senders = [
    ...(await attack(weir.url, '/runs/batch', key)),
    ...(await attack(weir.deploymentUrl, '/runs', key)),
  ]
  const drip = setInterval(() => {
    for (const { socket } of senders) if (socket.writable) socket.write('x')
  }, 5000)
  const pipeline = setInterval(() => {
    void open(weir.url, `GET /ok HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(5000))
  }, 1000)
  const stopAttack = (): void => {
    clearInterval(drip)
    clearInterval(pipeline)
  }
  onTestFinished(stopAttack)
  const attacked = [
    await others.during(delay(WINDOW_MS)),
    await others.during(delay(WINDOW_MS)),
    await others.during(delay(WINDOW_MS)),
  ]
  await eventually(async () => expect(senders.filter(({ isClosed }) => !isClosed())).toEqual([]))
  const answers = senders.map(({ answer }) => /^HTTP\/1\.1 (\d+)/.exec(answer())?.[1] ?? 'none')
  // The expected statuses: bytes in the middle of a head or between chunks make the request invalid; the deployment API
  // does not have such a path; and 503 means that the body was cut because requests with its key used the most memory.
  expect([...new Set(answers)].toSorted()).toEqual(['400', '401', '404', '408', '503'])
  expect(attacked.flatMap(({ refused }) => refused)).toEqual([])

  // Other work on the machine slows down one window, but the attack slows down all of them. So the median of the
  // windows with an attack is compared with the slower one of the windows without it.
  stopAttack()
  const after = await others.during(delay(WINDOW_MS))
  console.log(JSON.stringify({ before, attacked, after }))
  const [, median] = attacked.map(({ p99_ms }) => p99_ms).toSorted((a, b) => a - b)
  expect(median).toBeLessThan(3 * Math.max(before.p99_ms, after.p99_ms))
  await eventually(async () => {
    const metrics = await (await weir.request('/metrics')).text()
    expect(metrics).toContain('weir_deployment_in_flight_bytes 0')
  })
})

it('a key with 300 slow requests still gets responses to its other requests, on both listeners', async () => {
  const weir = await startWeir({ GRAPHS, DEPLOYMENT_NAME: 'fixtures' })
  onTestFinished(async () => void (await weir.stop()))
  for (const [url, path] of [
    [weir.url, '/runs/query'],
    [weir.deploymentUrl, '/threads/search'],
  ] as const) {
    const slow = await Promise.all(
      Array.from({ length: 300 }, () => open(url, head(path, API_KEY, announces(MIB)))),
    )
    for (const { socket } of slow) socket.write(' '.repeat(MIB - 1))
    const asked = await fetch(url + path, {
      method: 'POST',
      headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
      body: '{"limit":1}',
    })
    expect([path, asked.status]).toEqual([path, 200])
    for (const { socket } of slow) socket.destroy()
  }
})
