import { setFlagsFromString } from 'node:v8'
import { createLogger } from '../../base/log.ts'
import { readDevConfig } from '../../config.ts'
import { startServer } from '../../start/server.ts'
import { misused, readArguments } from '../arguments/command-arguments.ts'
import { keepFilesPrivate } from './private-files.ts'
import { endSoon, stopSignal } from '../terminal/stop-signal.ts'
import { createTerminalLog } from '../terminal/terminal-log.ts'
import { appLink, devWelcome, soonGraphFailures } from '../terminal/welcome.ts'

const HELP = `Usage: weir dev [options]

Runs the server as weir serve does, with the graphs that you work on. When langgraph.json, its env file or a module that
a graph imports changes, the graphs are reloaded: new runs use the new code, and active runs continue with the code that
they started with. While the code cannot be loaded, new runs fail with the reason, and everything else works.

Options:
  --graphs PATH    the langgraph.json (default: GRAPHS, else ./langgraph.json, else the example)
  --port N         of the deployment's API (default: DEPLOYMENT_PORT, else 2024 or the next free one)
  -h, --help       print this

Everything else is configured as for weir serve, by environment variables; LOG_LEVEL=debug shows more.`

const FLAGS = {
  graphs: { type: 'string' },
  port: { type: 'string' },
} as const

/** `weir dev`: runs the server for work on graphs, until SIGINT or SIGTERM. */
export async function dev(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (positionals.length > 0)
    throw misused(`weir dev takes options only, not ${positionals.join(' ')}.`, HELP)
  // The same option as in `weir serve`: it keeps bodies from causing a full garbage collection for every 64 MB.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const config = keepFilesPrivate(readDevConfig(values))
  const stopping = stopSignal()
  const log = createTerminalLog((text) => void process.stdout.write(text), {
    colors: process.stdout.isTTY && process.stdout.hasColors(),
    all: ['debug', 'trace'].includes(config.logLevel),
  })
  const server = await startServer(config, {
    logger: createLogger({ level: config.logLevel, destination: log }),
    stopping,
  })
  const failures = await soonGraphFailures(server, stopping)
  // The text shows the key even if standard output is not a terminal.
  console.log(devWelcome(server, config, { failures, link: await appLink(server, config, true) }))
  log.open()
  await stopping
  console.log('Stopping: runs under way have 10 s to end.')
  await server.stop()
  endSoon()
  return 0
}
