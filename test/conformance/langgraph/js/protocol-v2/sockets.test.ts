import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../../../support/eventually.ts'
import { useDeployment } from '../../../deployments/use-deployment.ts'
import { jsonBody } from '../../../../support/servers/weir-process.ts'

const setup = useDeployment()

interface Frame {
  type: string
  id?: number | null
  error?: string
  result?: Record<string, unknown>
  event_id?: string
  seq?: number
  method?: string
  params?: { namespace: string[]; data: Record<string, unknown> }
}

interface Opened {
  socket: WebSocket
  frames: Frame[]
  /** Sends a command and resolves with its answer. */
  command(method: string, params?: object): Promise<Frame>
  /** Resolves with the first frame that matches, when it arrives. */
  find(matches: (frame: Frame) => boolean): Promise<Frame>
}

/** Headers or subprotocols with which the client connects. */
interface As {
  headers?: Record<string, string>
  protocols?: string[]
}

function connect(thread_id: string, { headers, protocols = [] }: As = {}): WebSocket {
  const url = `${setup().url.replace('http', 'ws')}/threads/${thread_id}/stream/events`
  return new WebSocket(url, protocols, { headers: headers ?? { 'x-api-key': setup().weir.key } })
}

async function open(thread_id: string, as?: As): Promise<Opened> {
  const socket = connect(thread_id, as)
  const frames: Frame[] = []
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Frame))
  await once(socket, 'open')
  let ids = 0
  const find: Opened['find'] = (matches) =>
    eventually(async () => {
      const found = frames.find(matches)
      expect(found).toBeDefined()
      return found as Frame
    })
  return {
    socket,
    frames,
    find,
    command(method, params = {}) {
      const id = ++ids
      socket.send(JSON.stringify({ id, method, params }))
      return find((frame) => frame.id === id)
    },
  }
}

async function closeCode(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number]
  return code
}

function isTerminal({ method, params }: Frame): boolean {
  return method === 'lifecycle' && params?.namespace.length === 0 && params.data['event'] !== 'running'
}

const human = (text: string) => ({ messages: [{ role: 'user', content: text }] })
const START = { assistant_id: 'tokens', input: human('hi') }

describe('sockets of protocol v2', () => {
  it('the caller is refused after the socket is open, with 4000 + status (V-37)', async () => {
    const id = crypto.randomUUID()
    expect(await closeCode(connect(id, { headers: {} }))).toBe(4401)
    expect(await closeCode(connect(id, { headers: { 'x-api-key': 'wrong' } }))).toBe(4401)
    expect(await closeCode(connect('no-uuid'))).toBe(4422)
    expect((await setup().request('/info')).status).toBe(200)
  })

  it('a page that cannot send headers names its key as a subprotocol (V-38)', async () => {
    const key = `key.${Buffer.from(setup().weir.key).toString('base64url')}`
    const { socket, command } = await open(crypto.randomUUID(), {
      headers: {},
      protocols: ['weir.v2', key],
    })
    expect(socket.protocol).toBe('weir.v2')
    expect((await command('state.get')).type).toBe('error')
    socket.close()
  })

  it('an event of several subscriptions is sent once; a later one has its whole replay (V-35)', async () => {
    const { socket, command, frames, find } = await open(crypto.randomUUID())
    const first = await command('subscription.subscribe', { channels: ['lifecycle', 'values'] })
    await command('subscription.subscribe', { channels: ['lifecycle', 'updates'] })
    expect((await command('run.start', START)).type).toBe('success')
    await find(isTerminal)
    const ids = frames.flatMap(({ event_id }) => event_id ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    frames.length = 0
    const { subscription_id } = first.result ?? {}
    expect((await command('subscription.unsubscribe', { subscription_id })).type).toBe('success')
    await command('subscription.subscribe', { channels: ['lifecycle'] })
    await find(isTerminal)
    const [answered, told] = [
      frames.findIndex(({ result }) => 'subscription_id' in (result ?? {})),
      frames.findIndex(({ type }) => type === 'event'),
    ]
    expect(answered).toBeLessThan(told)
    expect(
      frames.filter(({ method }) => method === 'lifecycle').map(({ params }) => params?.data['event'])[0],
    ).toBe('running')
    socket.close()
  })

  it('many sockets follow a thread whose commands come over HTTP; one that does not read delays no other (V-33, V-36)', async () => {
    const id = crypto.randomUUID()
    const deaf = await open(id)
    await deaf.command('subscription.subscribe', { channels: ['values', 'messages', 'lifecycle'] })
    deaf.socket.pause()
    const readers = await Promise.all([1, 2, 3].map(() => open(id)))
    for (const { command } of readers)
      await command('subscription.subscribe', { channels: ['messages', 'lifecycle'] })
    const response = await setup().request(
      `/threads/${id}/commands`,
      jsonBody('POST', { id: 1, method: 'run.start', params: START }),
    )
    expect(response.status).toBe(200)
    await Promise.all(readers.map(({ find }) => find(isTerminal)))
    const [one, ...others] = readers.map(({ frames }) => frames.flatMap(({ event_id }) => event_id ?? []))
    for (const other of others) expect(other).toEqual(one)
    for (const { socket } of [deaf, ...readers]) socket.terminate()
  })

  it('since continues after an event on a new socket (V-30)', async () => {
    const id = crypto.randomUUID()
    const before = await open(id)
    await before.command('subscription.subscribe', { channels: ['messages', 'lifecycle'] })
    await before.command('run.start', START)
    await before.find(isTerminal)
    before.socket.terminate()
    const events = before.frames.filter(({ type }) => type === 'event')
    const half = Math.floor(events.length / 2)
    const after = await open(id)
    await after.command('subscription.subscribe', {
      channels: ['messages', 'lifecycle'],
      since: events[half]?.seq,
    })
    await after.find(isTerminal)
    expect(after.frames.filter(({ type }) => type === 'event')).toEqual(events.slice(half + 1))
    after.socket.terminate()
  })

  it('a frame beyond the limit of JSON closes the socket with 1009; what is no command does not (V-37)', async () => {
    const { socket, find, command } = await open(crypto.randomUUID())
    socket.send('{"id":')
    expect((await find(({ id }) => id === null)).error).toBe('invalid_argument')
    expect((await command('no.such')).error).toBe('unknown_command')
    expect((await command('subscription.unsubscribe', { subscription_id: 'x' })).error).toBe(
      'no_such_subscription',
    )
    expect((await command('subscription.subscribe', { channels: ['bogus'] })).error).toBe('invalid_argument')
    socket.send(' '.repeat((1 << 20) + 1))
    expect(await closeCode(socket)).toBe(1009)
  })

  it('a thread that is deleted closes its sockets with 4404 (V-27)', async () => {
    const id = crypto.randomUUID()
    const { socket, command, find } = await open(id)
    await command('subscription.subscribe', { channels: ['lifecycle'] })
    await command('run.start', START)
    await find(isTerminal)
    const closed = closeCode(socket)
    await setup().client.threads.delete(id)
    expect(await closed).toBe(4404)
  })
})
