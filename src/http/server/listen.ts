import { createServer, type AddressInfo, type Server } from 'node:net'
import { AppError } from '../../base/errors.ts'

export interface ListenOptions {
  host: string
  /** 0 for any free port. */
  port: number
  /** Name of the setting of `port`, for the message if the port is taken; default PORT. */
  setting?: string
  /** If set, the next free port, except those to `avoid`, is used if `port` is taken (D-55). */
  orNext?: { avoid: readonly number[] }
  /** End of the message for a taken port: what happens without the setting. Default: the next free port is used. */
  unset?: string
}

/** Number of consecutive ports that are tried before any free port is used. */
const NEXT_PORTS = 100
const LAST_PORT = 65_535

/**
 * Converts an error of listen() that the address has caused to a `config_invalid` that names the setting. Returns other
 * errors unchanged.
 */
function listenError(error: unknown, options: ListenOptions): unknown {
  const { host, port, setting = 'PORT', unset = `without ${setting} the next free one is taken` } = options
  const { code = '' } = error as NodeJS.ErrnoException
  const messages: Partial<Record<string, string>> = {
    EADDRINUSE: `${host}:${port} is in use, and ${setting} names it. Stop what listens there, or set ${setting} to another port; 0 takes any free one, and ${unset}.`,
    EACCES: `This user may not listen on ${host}:${port}. Set ${setting} to a port from 1024 on; 0 takes any free one.`,
    EADDRNOTAVAIL: `HOST is ${host}, which is not an address of this machine. 127.0.0.1 is always one, 0.0.0.0 means all of them.`,
    ENOTFOUND: `HOST is ${host}, a name that does not resolve to an address. 127.0.0.1 is this machine, 0.0.0.0 means all of its addresses.`,
  }
  const message = messages[code]
  return message === undefined ? error : new AppError('config_invalid', { message, cause: error })
}

function listenOn(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      resolve(server.address() as AddressInfo)
    })
  })
}

/**
 * Makes `server` listen. @throws AppError config_invalid when the port is taken and no other may be used, or when this
 * machine has no such address
 */
export async function listen(server: Server, options: ListenOptions): Promise<AddressInfo> {
  const { host, port, orNext } = options
  const last = orNext === undefined ? port : Math.min(port + NEXT_PORTS - 1, LAST_PORT)
  for (let next = port; next <= last; next++) {
    if (orNext?.avoid.includes(next) === true) continue
    try {
      return await listenOn(server, host, next)
    } catch (error) {
      // Systems refuse reserved ports with EACCES.
      const { code } = error as NodeJS.ErrnoException
      if (orNext === undefined || (code !== 'EADDRINUSE' && code !== 'EACCES'))
        throw listenError(error, options)
    }
  }
  return await listenOn(server, host, 0)
}

/** Checks a port by listening for a moment. @throws AppError config_invalid as `listen` does */
export async function assertFree(options: ListenOptions): Promise<void> {
  const server = createServer()
  await listen(server, options)
  await new Promise((closed) => server.close(closed))
}

export function urlOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
