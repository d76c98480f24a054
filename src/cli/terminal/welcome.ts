import { join, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../../config.ts'
import type { WeirServer } from '../../start/server.ts'

/** The parts of a started server that the welcome text shows. */
export type Started = Pick<
  WeirServer,
  'url' | 'deploymentUrl' | 'otlpGrpcUrl' | 'movedPorts' | 'movedAddresses' | 'isFirst' | 'identity'
>

/** Contents of a welcome text in addition to the server's addresses. */
export interface WelcomeExtras {
  /** Link to the web interface (`appLink`). */
  link: string
  /** Messages of graphs that could not be loaded. */
  failures?: readonly string[]
}

/**
 * Link to the web interface for a welcome text. It has a ticket if the text may show the key: on a terminal and at the
 * first start, but never for the key of BOOTSTRAP_API_KEY.
 */
export async function appLink(
  { app, isFirst, identity }: Pick<WeirServer, 'app' | 'isFirst' | 'identity'>,
  { auth, bootstrapApiKey }: Config,
  isTerminal: boolean,
): Promise<string> {
  const { key, replaced } = identity
  const mayShow = auth && key !== undefined && key !== bootstrapApiKey
  return mayShow && (isTerminal || isFirst || replaced) ? await app.signIn() : app.page
}

/**
 * Welcome text of `weir serve`: environment variables for clients. The first start shows the key, later starts show its
 * file.
 */
export function serveWelcome(started: Started, config: Config, extras: WelcomeExtras): string {
  const { url, deploymentUrl, otlpGrpcUrl } = started
  const { link, failures = [] } = extras
  const lines = ['', `Weir listens on ${url}`, ...movedLines(started), '']
  lines.push(`Open ${link}`, '')
  lines.push('Point a LangSmith client at it:')
  lines.push('  export LANGSMITH_TRACING=true', `  export LANGSMITH_ENDPOINT=${url}`)
  lines.push(`  export LANGSMITH_API_KEY=${keyText(started, config)}`, '')
  if (deploymentUrl !== undefined)
    lines.push(`Point a LangGraph client at ${deploymentUrl}, with the same key.`, '')
  if (failures.length > 0)
    lines.push(...failures, 'Its runs fail with this message; the other graphs work. Fix it and restart.', '')
  lines.push(`OpenTelemetry exporters send to ${url} over HTTP${grpcText(otlpGrpcUrl)}.`, '')
  lines.push(`API documentation: ${url}/docs`, '')
  return lines.join('\n')
}

function grpcText(otlpGrpcUrl: string | undefined): string {
  return otlpGrpcUrl === undefined ? '' : `, to ${otlpGrpcUrl} over gRPC`
}

export function devWelcome(started: Started, config: Config, { link, failures = [] }: WelcomeExtras): string {
  const { url, deploymentUrl, identity } = started
  const key = config.auth ? devKeyText(identity.key, config) : 'none is needed'
  const lines = [
    '',
    `Graphs      ${relative('', config.hosted?.graphs ?? '')}, watched for changes`,
    `Deployment  ${deploymentUrl}    for LangGraph clients; ${deploymentUrl}/docs`,
    `Platform    ${url}    traces, usage; ${url}/docs`,
    `API key     ${key}`,
    `Open        ${link}`,
    ...movedLines(started),
    ...failures,
    '',
  ]
  return lines.map((line) => (line === '' ? line : `  ${line}`)).join('\n')
}

const LOAD_MS = 10_000

/**
 * Messages of graphs that could not be loaded; none if loading takes more than `LOAD_MS`, or the server is stopping.
 */
export async function soonGraphFailures(
  { graphFailures }: Pick<WeirServer, 'graphFailures'>,
  stopping: Promise<void>,
): Promise<readonly string[]> {
  const timeout = new AbortController()
  const late = delay(LOAD_MS, [], { signal: timeout.signal }).catch(() => [])
  return await Promise.race([graphFailures(), late, stopping.then(() => [])]).finally(() => timeout.abort())
}

function movedLines({ movedPorts, movedAddresses }: Started): string[] {
  const moved = movedAddresses.map(
    ({ from, to }) =>
      `The last start used ${from}, this one uses ${to}. Set the variables of shells and clients again: eval "$(weir env)".`,
  )
  const taken = movedPorts.map(({ setting, taken, port }) =>
    port === undefined
      ? `Port ${taken} is taken, OTLP over gRPC is off (set ${setting} to choose another port).`
      : `Port ${taken} is taken, using ${port} instead (set ${setting} to choose one).`,
  )
  return [...taken, ...moved]
}

/** The line about the key; never shows the key of BOOTSTRAP_API_KEY. */
function devKeyText(key: string | undefined, { bootstrapApiKey }: Config): string {
  if (key === undefined) return 'one that you created'
  return key === bootstrapApiKey ? 'the value of BOOTSTRAP_API_KEY' : key
}

function keyText({ identity, isFirst }: Started, { auth, dataDir, bootstrapApiKey }: Config): string {
  if (!auth) return 'any    # AUTH is off: no key is needed'
  if (identity.key === undefined) return '…    # a key that you created'
  if (identity.key === bootstrapApiKey) return '…    # the value of BOOTSTRAP_API_KEY'
  return isFirst || identity.replaced
    ? identity.key
    : `$(cat ${shellWord(join(resolve(dataDir), 'api-key'))})`
}

function shellWord(path: string): string {
  return /^[\w./@%+,:~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
