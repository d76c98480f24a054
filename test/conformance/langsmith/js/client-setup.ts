import { Client } from 'langsmith'
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { type FakeVendor, startFakeVendor } from '../../../support/servers/vendors/fake-vendor.ts'
import { type RecordingProxy, startRecordingProxy } from '../../../support/faults/proxies/recording.ts'
import { drained } from '../../../support/servers/server.ts'
import { borrowWeir, type UsedWeir } from '../../../support/servers/use-weir.ts'
import type { ReadTraceRun } from '../../traces/corpus/facts.ts'
import { answersAsDocumented, type OpenApiDocument } from '../../openapi/answers.ts'

/** What tests of a client use. Read it inside tests and hooks only. */
export interface ClientSetup {
  weir: UsedWeir
  /** A proxy between client and server; clients use its address. */
  proxy: RecordingProxy
  vendor: FakeVendor
}

/** Warnings about deprecated calls inside the client itself, which have nothing to do with the server. */
const OWN_NOTICE = /^LANGSMITH_DEPRECATED_/

/**
 * A server, a recording proxy in front of it and a fake vendor for the tests of a file. After each test, nothing may
 * have been written to the console or as a process warning. At the end, every response must match the OpenAPI document,
 * and none may be a 5xx.
 */
export function useClientSetup(): () => ClientSetup {
  let setup: ClientSetup | undefined
  const stops: (() => Promise<unknown>)[] = []
  const said: string[] = []
  const onWarning = (warning: Error & { code?: string }): void => {
    if (!OWN_NOTICE.test(warning.code ?? '')) said.push(`${warning.name}: ${warning.message}`)
  }

  beforeAll(async () => {
    const weir = await borrowWeir()
    stops.push(async () => expect(await weir.stop()).toBe(0))
    const proxy = await startRecordingProxy(weir.url)
    stops.push(proxy.stop)
    const vendor = await startFakeVendor()
    stops.push(vendor.stop)
    setup = { weir, proxy, vendor }
    process.on('warning', onWarning)
    for (const method of ['log', 'info', 'warn', 'error'] as const) {
      vi.spyOn(console, method).mockImplementation(
        (...parts: unknown[]) => void said.push(parts.map(String).join(' ')),
      )
    }
  })
  afterEach(() => {
    expect(said.splice(0)).toEqual([])
  })
  afterAll(async () => {
    process.off('warning', onWarning)
    vi.restoreAllMocks()
    try {
      if (setup !== undefined) await expectDocumented(setup)
    } finally {
      for (const stop of stops.toReversed()) await stop()
    }
  })

  return () => {
    if (setup === undefined) throw new Error('the setup has not started')
    return setup
  }
}

async function expectDocumented({ weir, proxy }: ClientSetup): Promise<void> {
  const check = answersAsDocumented(await weir.json<OpenApiDocument>('/openapi.json'))
  expect(proxy.requests.length).toBeGreaterThan(0)
  expect(proxy.requests.flatMap((recorded) => check.faults(recorded))).toEqual([])
  expect(proxy.requests.filter(({ status }) => status >= 500)).toEqual([])
}

/** The server of each client. */
const servers = new WeakMap<Client, UsedWeir>()

/** An SDK client that uses the proxy, set up as users do. */
export function makeClient(
  { weir, proxy }: ClientSetup,
  config: ConstructorParameters<typeof Client>[0] = {},
): Client {
  const client = new Client({ apiUrl: proxy.url, apiKey: weir.key, ...config })
  servers.set(client, weir)
  return client
}

/** Reads the TraceRun with the SDK's readRun until it exists and has ended. */
export async function readEnded(client: Client, id: string): Promise<ReadTraceRun> {
  await client.awaitPendingTraceBatches()
  const server = servers.get(client)
  // Each read of a run that is not stored yet costs the store 40 ms of CPU.
  if (server !== undefined) await drained(server)
  return await eventually(async () => {
    const found = await readNow(client, id)
    expect(found.end_time).not.toBeNull()
    return found
  })
}

/** Reads the TraceRun in its current state with the SDK's readRun. */
export async function readNow(client: Client, id: string): Promise<ReadTraceRun> {
  return (await client.readRun(id)) as unknown as ReadTraceRun
}
