import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRevision, type RevisionParts } from './revision.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-revision-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

it.each([
  ['SECRETS_', 'SECRETS_KEY'],
  ['LG_WEBHOOK_', 'LG_WEBHOOK_TOKEN'],
])('D-64, P-18: webhooks of deployed code get no variable %s… of the server', async (env_prefix, name) => {
  const file = {
    graphs: { agent: './agent.ts:graph' },
    webhooks: { env_prefix, headers: { 'x-told': `\${{ env.${name} }}` } },
  }
  await writeFile(join(dir, 'langgraph.json'), JSON.stringify(file))
  const hosted = { environment: { SECRETS_KEY: 'of the server', LG_WEBHOOK_TOKEN: 'of the server' } }
  const opening = openRevision(
    { hosted } as unknown as RevisionParts,
    {
      deployment: { id: 'd', name: 'bot', workspace_id: 'w', limits: { memory_bytes: 1 << 30 } } as never,
      revision: { id: 'r', number: 1, dir, config_path: 'langgraph.json', env: {} },
      isFirst: true,
    },
    { log: () => undefined, signal: new AbortController().signal } as never,
    () => expect.unreachable(),
  )
  await expect(opening).rejects.toMatchObject({
    code: 'deployment_failed',
    message: expect.stringContaining(`${name}, which is not set`),
  })
})
