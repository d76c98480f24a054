import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems assign (Linux: from 32768), above those of common services. */
const FROM = 20_000
const TO = 32_000

/**
 * A port of 127.0.0.1 for a server with a fixed port, which may start later or again: it is free, and no process that
 * requests any free port gets it meanwhile.
 */
export async function fixedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(FROM, TO)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  await new Promise((closed) => server.close(closed))
  return true
}
