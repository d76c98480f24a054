import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Run, Thread } from '../../../src/runs/model.ts'
import { eventually } from '../../support/eventually.ts'
import { startRunServer } from '../../support/runs/server.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { newFolder } from '../../support/folder.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

interface Told {
  id: string
  status: string
}

/** A receiver that holds back its answers until the test allows them. */
async function startReceiver() {
  const told: Told[] = []
  let silent = true
  const server: Server = createServer((req: IncomingMessage, res) => {
    void (async () => {
      let body = ''
      for await (const chunk of req.setEncoding('utf8')) body += chunk
      const { status } = JSON.parse(body) as { status: string }
      told.push({ id: String(req.headers['webhook-id']), status })
      if (!silent) res.writeHead(204).end()
    })().catch(() => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  return {
    told,
    port: (server.address() as AddressInfo).port,
    take: () => void (silent = false),
  }
}

async function openServer() {
  const dataDir = await newFolder()
  const start = () => startRunServer(dataDir, { WEBHOOK_PRIVATE_ADDRESSES: 'on' })
  let server = await start()
  onTestFinished(async () => {
    await server.stop()
  })
  const file = join(dataDir, 'beats')
  await writeFile(file, '')
  return {
    /** Starts a short run on a new thread. */
    async run(port: number): Promise<Run> {
      const webhook = `http://127.0.0.1:${port}/hook`
      const { thread_id } = await server.ask<Thread>('threads', 'create', {})
      const request = { assistant_id: 'beats', input: { file, beats: 1 }, webhook }
      return server.ask<Run>('runs', 'create', thread_id, request)
    },
    kill: () => server.kill(),
    async restart() {
      server = await start()
    },
  }
}

it('HOOK-3: a webhook that was being sent when the server died is sent again', async () => {
  const receiver = await startReceiver()
  const server = await openServer()
  const { run_id } = await server.run(receiver.port)
  await eventually(async () => expect(receiver.told).toEqual([{ id: run_id, status: 'success' }]))
  await server.kill()
  receiver.take()
  await server.restart()
  await eventually(async () => expect(receiver.told).toHaveLength(2))
  expect(receiver.told[1]).toEqual({ id: run_id, status: 'success' })
})

it('RUN-25: webhooks of runs that end around a kill of the server are all sent', async () => {
  const receiver = await startReceiver()
  const server = await openServer()
  const runs = await Promise.all(Array.from({ length: 12 }, () => server.run(receiver.port)))
  await eventually(async () => expect(receiver.told.length).toBeGreaterThan(2))
  receiver.take()
  await server.kill()
  await server.restart()
  await eventually(async () => {
    expect(new Set(receiver.told.map(({ id }) => id))).toEqual(new Set(runs.map(({ run_id }) => run_id)))
  })
})
