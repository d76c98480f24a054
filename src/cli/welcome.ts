import { relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { WeirServer } from '../server.ts'

/** What a start tells people: where the server listens, and with which key. */
export type Started = Pick<WeirServer, 'url' | 'deploymentUrl' | 'movedPorts' | 'isFirst' | 'identity'>

/** For `weir serve`: how to point a client here. The key is shown once; from then on it is read from its file. */
export function serveWelcome(started: Started, config: Config, failures: readonly string[] = []): string {
  const { url, deploymentUrl } = started
  const lines = ['', `Weir listens on ${url}`, ...movedLines(started), '']
  lines.push('Point a LangSmith client at it:')
  lines.push('  export LANGSMITH_TRACING=true', `  export LANGSMITH_ENDPOINT=${url}`)
  lines.push(`  export LANGSMITH_API_KEY=${keyText(started, config)}`, '')
  if (deploymentUrl !== undefined)
    lines.push(`Point a LangGraph client at ${deploymentUrl}, with the same key.`, '')
  if (failures.length > 0)
    lines.push(
      ...failures,
      'Its runs fail with these words, the other graphs work. Mend it and start again.',
      '',
    )
  lines.push(`API documentation: ${url}/docs`, '')
  return lines.join('\n')
}

/** For `weir dev`. */
export function devWelcome(started: Started, config: Config, failures: readonly string[] = []): string {
  const { url, deploymentUrl, identity } = started
  const key = config.auth ? devKeyText(identity.key, config) : 'none is needed'
  const lines = [
    '',
    `Graphs      ${relative('', config.hosted?.graphs ?? '')}, watched for changes`,
    `Deployment  ${deploymentUrl}    for LangGraph clients; ${deploymentUrl}/docs`,
    `Platform    ${url}    traces, usage; ${url}/docs`,
    `API key     ${key}`,
    ...movedLines(started),
    ...failures,
    '',
  ]
  return lines.map((line) => (line === '' ? line : `  ${line}`)).join('\n')
}

const LOAD_MS = 10_000

/** Why graphs cannot be loaded, as soon as that is known; nothing when that takes long, or the start is given up. */
export async function soonGraphFailures(
  { graphFailures }: Pick<WeirServer, 'graphFailures'>,
  stopping: Promise<void>,
): Promise<readonly string[]> {
  const timeout = new AbortController()
  const late = delay(LOAD_MS, [], { signal: timeout.signal }).catch(() => [])
  return await Promise.race([graphFailures(), late, stopping.then(() => [])]).finally(() => timeout.abort())
}

function movedLines({ movedPorts }: Started): string[] {
  return movedPorts.map(
    ({ setting, taken, port }) => `Port ${taken} is taken, so it is ${port} (${setting} names another).`,
  )
}

/** A key that the operator has chosen is never printed. */
function devKeyText(key: string | undefined, { bootstrapApiKey }: Config): string {
  if (key === undefined) return 'one that you have made'
  return key === bootstrapApiKey ? 'the value of BOOTSTRAP_API_KEY' : key
}

function keyText({ identity, isFirst }: Started, { auth, dataDir, bootstrapApiKey }: Config): string {
  if (!auth) return 'any    # AUTH is off: no key is needed'
  if (identity.key === undefined) return '…    # a key that you have made'
  if (identity.key === bootstrapApiKey) return '…    # the value of BOOTSTRAP_API_KEY'
  return isFirst || identity.replaced ? identity.key : `$(cat ${dataDir}/api-key)`
}
