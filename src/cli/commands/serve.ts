import { setFlagsFromString } from 'node:v8'
import { createLogger, type Logger } from '../../base/log.ts'
import { type Config, readConfig } from '../../config.ts'
import { startServer, type WeirServer } from '../../start/server.ts'
import { misused, readArguments, saidText } from '../arguments/command-arguments.ts'
import { keepFilesPrivate } from './private-files.ts'
import { endSoon, stopSignal } from '../terminal/stop-signal.ts'
import { createTerminalLog } from '../terminal/terminal-log.ts'
import { appLink, serveWelcome, soonGraphFailures } from '../terminal/welcome.ts'

const HELP = `Usage: weir serve [options]

Runs the server. It is configured by environment variables, such as PORT, DATA_DIR and GRAPHS: weir config prints those
in effect, docs/operating/configuration.md lists all. The log is one JSON object a line; on a terminal, unless LOG_LEVEL is set, it
is text, with warnings and errors only.

Options:
  --accept-empty-store  start with a store that was emptied since the last start; its data is lost
  -h, --help            print this`

const FLAGS = {
  'accept-empty-store': { type: 'boolean' },
} as const

/** `weir serve`: runs the server until SIGINT or SIGTERM; a second signal ends it at once. */
export async function serve(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (positionals.length > 0) throw misused(`weir serve takes no arguments${saidText(positionals)}.`, HELP)
  // Bodies use memory outside of the heap. Without this flag, every 64 MB of this memory cause a full garbage
  // collection.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const config = keepFilesPrivate(readConfig())
  const stopping = stopSignal()
  const server = await startServer(config, {
    acceptEmptyStore: values['accept-empty-store'] === true,
    stopping,
    logger: serveLogger(config, process.stdout),
  })
  const failures = await soonGraphFailures(server, stopping)
  const isNews = server.isFirst || server.identity.replaced || hasMoved(server)
  if (process.stdout.isTTY || isNews || failures.length > 0)
    console.error(
      serveWelcome(server, config, { failures, link: await appLink(server, config, process.stdout.isTTY) }),
    )
  await stopping
  if (process.stdout.isTTY) console.log('Stopping: runs under way have 10 s to end.')
  await server.stop()
  endSoon()
  return 0
}

/** True if a port was taken and another one is used, or if an address differs from that of the last start. */
function hasMoved({
  movedPorts,
  movedAddresses,
}: Pick<WeirServer, 'movedPorts' | 'movedAddresses'>): boolean {
  return movedPorts.length > 0 || movedAddresses.length > 0
}

/** The server's logger: JSON lines, or on a terminal without LOG_LEVEL, warnings and errors as text for people. */
export function serveLogger(
  { settings, logLevel: level }: Pick<Config, 'settings' | 'logLevel'>,
  stdout: Pick<NodeJS.WriteStream, 'isTTY' | 'hasColors' | 'write'>,
): Logger {
  const isSet = settings.some(({ name, source }) => name === 'LOG_LEVEL' && source === 'env')
  if (!stdout.isTTY || isSet) return createLogger({ level })
  const log = createTerminalLog((text) => void stdout.write(text), { colors: stdout.hasColors(), all: false })
  log.open()
  return createLogger({ level, destination: log })
}
