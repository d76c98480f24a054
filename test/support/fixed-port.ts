import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to whoever asks for any (Linux: from 32768), above those of common services. */
const FROM = 20_000
const TO = 32_000

/**
 * A port of 127.0.0.1 for a server that is told where to listen, now or again later: it is free, and meanwhile no
 * process that asks for any free port is given it.
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
