import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import {
  addRevision,
  archiveOf,
  createDeployment,
  deployGreeter,
  endedRevision,
  GREETING,
  greeter,
  greetingOf,
  latestRevision,
} from '../../support/deployments/deploy-project.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'
import { jsonBody, KEY, type WeirProcess } from '../../support/servers/weir-process.ts'
import { type CheckedApi, openCheckedApi } from '../../conformance/openapi/checked-api.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const server = useOwnWeir()
let weir: WeirProcess
let api: CheckedApi
beforeAll(async () => {
  weir = server.current()
  api = await openCheckedApi(weir.url)
})

const deploy = (id: string, text: string, secrets = [GREETING]) => deployGreeter(weir, id, text, secrets)

function logs(id: string, body: object): Promise<SchemaTypes['deployment-log-page']> {
  return weir.json(`/api-host/v1/projects/${id}/deploy_logs`, jsonBody('POST', body))
}

describe('a deployment over HTTP, on a server without GRAPHS', () => {
  it('P-4, P-8, P-15, P-16, P-35, P-45: a project is deployed, updated in place, rolled back and deleted', async () => {
    const { id, source_config } = await createDeployment(weir, 'greeter')
    expect(source_config).toEqual({
      deployment_type: 'dev',
      custom_url: `${weir.url}/deployments/greeter`,
      install_command: null,
      build_command: null,
    })
    const early = await weir.fetch('/deployments/greeter/info')
    expect([early.status, await early.json()]).toMatchObject([503, { code: 'deployment_not_ready' }])
    const taken = { name: 'greeter', source: 'internal_source' }
    const refused = await weir.fetch('/v2/deployments', jsonBody('POST', taken))
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: 'deployment_name_taken' }])

    const first = await deploy(id, 'one')
    expect(first).toMatchObject({
      status: 'DEPLOYED',
      weir: { number: 1, is_active: true, graphs: ['agent'] },
    })
    expect(await greetingOf(weir, 'greeter')).toBe(`one ${GREETING.value}`)
    // P-45: both addresses answer, with and without a slash at the end; browsers get a page.
    const { weir: facts } = await weir.json<SchemaTypes['deployment']>(`/v2/deployments/${id}`)
    const html = { headers: { accept: 'text/html' } }
    for (const url of [source_config.custom_url, `${source_config.custom_url}/`]) {
      expect(await (await fetch(url, { redirect: 'manual' })).json()).toMatchObject({
        weir: { deployment: 'greeter', graphs: ['agent'] },
      })
      const page = await fetch(url, html)
      expect([page.status, page.url]).toEqual([200, `${source_config.custom_url}/docs`])
    }
    expect(await (await fetch(facts.studio_url, html)).text()).toContain('<!doctype html>')
    // An update with an empty list of secrets keeps the existing ones.
    expect(await deploy(id, 'two', [])).toMatchObject({ status: 'DEPLOYED', weir: { number: 2 } })
    expect(await greetingOf(weir, 'greeter')).toBe(`two ${GREETING.value}`)

    const broken = { ...greeter('x'), 'src/agent.ts': "import 'no-such-package'\n" }
    const third = await addRevision(weir, id, await archiveOf(broken))
    expect(await endedRevision(weir, id, third.id)).toMatchObject({
      status: 'DEPLOY_FAILED',
      weir: { error: { message: expect.stringContaining('no-such-package'), file: 'src/agent.ts' } },
    })
    expect(await greetingOf(weir, 'greeter')).toBe(`two ${GREETING.value}`)

    const back = await api({
      key: KEY,
      method: 'POST',
      path: `/v2/deployments/${id}/revisions/${first.id}/redeploy`,
    })
    expect(back).toMatchObject({ status: 201, body: { weir: { number: 4, rolled_back_from: 1 } } })
    const latest = await latestRevision(weir, id)
    expect(await endedRevision(weir, id, latest.id)).toMatchObject({ status: 'DEPLOYED' })
    expect(await greetingOf(weir, 'greeter')).toBe(`one ${GREETING.value}`)

    const texts = await Promise.all(
      ['', '/revisions?limit=100'].map(async (path) =>
        (await weir.fetch(`/v2/deployments/${id}${path}`)).text(),
      ),
    )
    const { logs: lines } = await logs(id, { limit: 1000, order: 'asc' })
    const stored = (await readdir(weir.dataDir)).filter((name) => name.startsWith('weir.db'))
    for (const name of stored) texts.push((await readFile(join(weir.dataDir, name))).toString('latin1'))
    texts.push(JSON.stringify(weir.log), JSON.stringify(lines))
    expect(texts.filter((text) => text.includes(GREETING.value))).toEqual([])
    expect(stored).toContain('weir.db')
    expect(lines.map(({ message }) => message)).toContain('saying two ***')
    // P-39: the log contains the starts of hosts, and a limit counts only lines of the selected kind.
    expect(lines.map(({ kind, message }) => `${kind}: ${message}`)).toContainEqual(
      expect.stringMatching(/^deploy: The graph host \d+ has started\.$/),
    )
    expect((await logs(id, { limit: 1, order: 'asc', kinds: ['server'] })).logs).toMatchObject([
      { kind: 'server', message: expect.stringMatching(/^saying one/) },
    ])
    expect(
      await api({
        key: KEY,
        method: 'POST',
        path: `/v1/projects/${id}/deploy_logs`,
        body: { kinds: ['build'] },
      }),
    ).toMatchObject({ status: 422 })
    expect(lines.filter(({ level }) => level === 'ERROR').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^revision 3: DEPLOY_FAILED: src\/agent\.ts:1: .*no-such-package/),
    ])

    expect((await api({ key: KEY, method: 'DELETE', path: `/v2/deployments/${id}` })).status).toBe(204)
    expect((await weir.fetch('/deployments/greeter/info')).status).toBe(404)
    expect((await weir.fetch(`/v2/deployments/${id}`)).status).toBe(404)
    await createDeployment(weir, 'greeter')
    const audit = await weir.json<SchemaTypes['audit-log-page']>('/api/v1/orgs/current/audit-logs?limit=100')
    const actions = audit.audit_logs
      .map(({ action }) => action)
      .filter((action) => action.startsWith('deployment.'))
    const updates = (count: number): string[] => Array<string>(count).fill('deployment.update')
    expect(actions.toReversed()).toEqual([
      ...['deployment.create', ...updates(3), 'deployment.rollback'],
      ...['deployment.delete', 'deployment.create'],
    ])
  })
})
