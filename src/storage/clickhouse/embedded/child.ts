/**
 * Entry of the process that runs chDB (decision D-3). Its working folder contains the bodies of inserts. It receives
 * messages over the IPC channel. When its parent exits, the channel closes and this process exits too.
 */
import { within } from '../../../base/background/within.ts'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { type Engine, openEngine } from './engine.ts'
import { createEngineServer } from './http-server.ts'
import type { ChildAnswer, OpenEngine, StopMessage } from './messages.ts'
import { isRowsFile, removeRowsFile } from './requests/rows-file.ts'

const STOP_MS = 10_000

function send(answer: ChildAnswer): void {
  process.send?.(answer)
}

/** Exits without the exit hooks, which would wait for running queries. Confirmed rows are on disk. */
function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

function isInstalled(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code !== 'ERR_MODULE_NOT_FOUND' && code !== 'CHDB_PLATFORM'
}

/**
 * Removes bodies of inserts that an earlier, killed process left behind. Called after the engine is open: from then on
 * no other process uses the folder.
 */
async function removeLeftBodies(workDir: string): Promise<void> {
  for (const name of await readdir(workDir)) {
    if (isRowsFile(name)) await removeRowsFile(workDir, name)
  }
}

/** Opens engine and server; the returned function closes them and returns whether that succeeded in time. */
async function open(message: OpenEngine): Promise<() => Promise<boolean>> {
  const workDir = process.cwd()
  const engine: Engine = await openEngine(message.path, workDir, message.memory)
  await removeLeftBodies(workDir)
  const server = createEngineServer({ engine, password: message.password, workDir })
  server.listen(message.port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  send({ type: 'listening', port: address.port })
  return async () => {
    server.close()
    server.closeIdleConnections()
    const closed = engine.close().then(() => true)
    return within(closed, STOP_MS, () => false)
  }
}

async function main(): Promise<void> {
  process.once('disconnect', die)
  // Ctrl-C in a terminal sends SIGINT to all processes of the group. The child ignores it and waits for the parent's
  // stop message.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => undefined)
  const [message] = (await once(process, 'message')) as [OpenEngine]
  const close = await open(message)
  const [order] = (await once(process, 'message')) as [StopMessage]
  if (order.type === 'stop' && (await close())) process.exit(0)
  die()
}

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  process.send?.(
    { type: 'failed', installed: isInstalled(error), message } satisfies ChildAnswer,
    undefined,
    undefined,
    die,
  )
})
