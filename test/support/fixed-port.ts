import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The first port that is tried: below the ports that systems assign (Linux: from 32768), above those of common
 * services.
 */
const FROM = 20_000
const TO = 32_000

/**
 * A free port of 127.0.0.1 for a server that starts later or several times. A process that asks the system for any free
 * port does not get it.
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
