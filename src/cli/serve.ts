import { setFlagsFromString } from 'node:v8'
import { readConfig } from '../config.ts'
import { startServer } from '../server.ts'
import { misused, readArguments, saidText } from './command-arguments.ts'
import { stopSignal } from './stop-signal.ts'
import { serveWelcome, soonGraphFailures } from './welcome.ts'

const HELP = `Usage: weir serve [options]

Runs the server. It is configured by environment variables, such as PORT, DATA_DIR and GRAPHS: weir config prints those
in effect, docs/configuration.md tells all.

Options:
  --accept-empty-store  go on with a store that was emptied since the last start; what it held is gone for good
  -h, --help            print this`

const FLAGS = {
  'accept-empty-store': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** `weir serve`: runs the server until SIGINT or SIGTERM; a second signal ends it at once. */
export async function serve(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (values.help === true) {
    console.log(HELP)
    return 0
  }
  if (positionals.length > 0) throw misused(`weir serve takes no words${saidText(positionals)}.`, HELP)
  // What is kept is for its owner only, also in a folder that others may read.
  process.umask(0o077)
  // Bodies pass through memory outside of the heap; by default every 64 MB of them cost a full collection.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const config = readConfig()
  const stopping = stopSignal()
  const server = await startServer(config, { acceptEmptyStore: values['accept-empty-store'] === true })
  const failures = await soonGraphFailures(server, stopping)
  const isNews = server.isFirst || server.identity.replaced || server.movedPorts.length > 0
  if (process.stdout.isTTY || isNews || failures.length > 0)
    console.error(serveWelcome(server, config, failures))
  await stopping
  await server.stop()
  return 0
}
