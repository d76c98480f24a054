import { afterAll, beforeAll, expect, it } from 'vitest'
import { temporaryDir } from '../stores/clickhouse/embedded-clickhouse.ts'
import { fixedPort } from '../fixed-port.ts'
import { fuzzListener } from './openapi.ts'
import { addMembers, startScim, startSessions } from './accounts.ts'
import { addDeployments } from './deployments.ts'
import { addSecrets } from './secrets.ts'
import { addTraces } from './traces.ts'
import { CLIENT, type OidcProvider, startOidcProvider } from '../sign-in/oidc-provider.ts'
import { createKnownRecords, type KnownRecords } from '../servers/known-records.ts'
import { startWeir, type WeirProcess } from '../servers/weir-process.ts'

/** The length and the limits of a campaign. */
export interface FuzzOptions {
  requests: number
  seed: number
}

const NAME = 'fuzzed'
/** Allowed growth of memory by caches, pools and stored records; a leak in 100,000 requests is larger. */
const GROWTH = { times: 2, bytes: 300 << 20 }
const WARM_UP = 1_000
/** Maximum number of operations that always succeed, or always fail, in the campaign. */
const MAX_ONE_SIDED = 9
/** Operations that cannot both succeed and fail in a campaign, grouped by the reason. */
const ONE_SIDED: readonly string[] = [
  // They need a registry of images, or a revision that is being built.
  'POST /api/v2/deployments/{id}/push-token',
  'POST /api/v2/deployments/{id}/revisions/{revision_id}/interrupt',
  // They need a model provider, and a secret for it.
  'POST /api/v1/playground/runs',
  // Routes whose only answer is the error `not_found`.
  'POST /api/v1/sessions/{id}/dashboard',
  // Routes that refuse nothing.
  'GET /api/v1/ok',
  'GET /api/v1/ready',
  // They need a person who signs in or consents in a browser.
  'GET /api/v1/oauth/{id}/callback',
  'GET /api/v1/oauth/authorize',
  'POST /api/v1/oauth/authorize',
  'POST /api/v1/oauth/token',
  // An address has ten refusals a minute, which others of the campaign take.
  'POST /api/v1/auth/session',
  'POST /api/v1/auth/invites',
  'POST /api/v1/auth/invites/accept',
  // It needs an experiment.
  'GET /api/v1/sessions/resolutions',
  // It needs a deployment whose project accepts tokens of OAuth.
  'GET /api/v1/.well-known/oauth-protected-resource/deployments/{name}/mcp',
  'GET /api/v1/docs/{file}',
]

const REDIRECT = 'http://127.0.0.1:9/callback'

/** Registers the tests of a file: it fuzzes both listeners of a server that only this file uses. */
export function fuzzBothListeners({ requests, seed }: FuzzOptions): void {
  let weir: WeirProcess
  let dir: Awaited<ReturnType<typeof temporaryDir>>
  let provider: OidcProvider
  beforeAll(async () => {
    dir = await temporaryDir()
    // Nobody signs in there: SCIM needs a provider.
    provider = await startOidcProvider([])
    const port = await fixedPort()
    weir = await startWeir(dir.dir, {
      GRAPHS: 'examples/graphs/langgraph.json',
      DEPLOYMENT_NAME: NAME,
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      OAUTH_ISSUER_URL: provider.issuer,
      OAUTH_CLIENT_ID: CLIENT.id,
      OAUTH_CLIENT_SECRET: CLIENT.secret,
    })
  })
  afterAll(async () => {
    expect(await weir.stop()).toBe(0)
    await provider.close()
    await dir.remove()
  })

  it.each([
    ['the platform API', ''],
    ['the deployment API', `/deployments/${NAME}`],
  ])(
    `%s answers as documented, without 5xx but 501, within a second (seed ${seed})`,
    async (_title, prefix) => {
      const records = createKnownRecords({ assistant_id: 'agent', graph_id: 'agent' })
      const kept = prefix === '' ? await addRecords(weir, records) : []
      const scim = prefix === '' ? await startScim(weir) : undefined
      const sessions = await startSessions(weir)
      const campaign = {
        weir,
        prefix,
        records,
        sessions,
        kept: scim ? [...kept, scim.id] : kept,
        scimToken: scim?.token,
      }
      await fuzzListener({ ...campaign, requests: WARM_UP, seed: seed + 1 })
      const before = await residentBytes(weir)
      const { faults, slow, oneSided, statuses } = await fuzzListener({ ...campaign, requests, seed })
      console.log(
        `${prefix || '/'}: ${JSON.stringify(statuses)}, ${before >> 20} MiB before, ${(await residentBytes(weir)) >> 20} after`,
      )
      expect(faults).toEqual([])
      expect(weir.isAlive()).toBe(true)
      expect(weir.log.filter(({ level, msg }) => level === 'fatal' || msg === 'request failed')).toEqual([])
      expect(slow).toEqual([])
      const unexpected = oneSided.filter((one) => !ONE_SIDED.includes(one.slice(0, one.indexOf(':'))))
      expect(unexpected.length, unexpected.join('\n')).toBeLessThanOrEqual(MAX_ONE_SIDED)
      expect(await residentBytes(weir)).toBeLessThan(before * GROWTH.times + GROWTH.bytes)
    },
  )
}

/** Adds records for the campaign. Resolves with the ids that it must not change. */
async function addRecords(weir: WeirProcess, records: KnownRecords): Promise<readonly string[]> {
  const traces = await addTraces(weir, records)
  await addSecrets(weir, records)
  await addMembers(weir, records)
  addFields(records)
  return [...traces, ...(await addDeployments(weir, records))]
}

/** Adds values of fields that must be well formed before a route looks at anything else. */
function addFields(records: Pick<KnownRecords, 'add'>): void {
  records.add('/', { redirect_uri: REDIRECT, grant_type: 'refresh_token', response_type: 'code' })
  records.add('/', { document: JSON.stringify({ version: 1, workspaces: [{ name: 'fuzzed' }] }) })
  records.add('/', { feedback_key: 'score', match_pattern: '^fuzzed$' })
  for (let n = 0; n < 20; n++) records.add('/', { userName: `fuzzed-scim-${n}@example.com` })
  records.add('/api/v1/oauth', { id: 'custom-oidc' })
}

async function residentBytes(weir: WeirProcess): Promise<number> {
  const text = await (await weir.fetch('/metrics')).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}
