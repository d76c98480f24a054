import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { assertBoundedCors } from '../../http/server/browser/cors.ts'
import { openRevision, type RevisionParts } from './revision.ts'
import { newFolder } from '../../../test/support/folder.ts'

let dir: string
beforeEach(async () => void (dir = await newFolder()))

/** Opens a revision with these settings; no process is started, since the settings are refused. */
async function open(settings: object): Promise<unknown> {
  const file = { graphs: { agent: './agent.ts:graph' }, ...settings }
  await writeFile(join(dir, 'langgraph.json'), JSON.stringify(file))
  const runs = { environment: { SECRETS_KEY: 'of the server', LG_WEBHOOK_TOKEN: 'of the server' } }
  return await openRevision(
    { config: { runs }, shared: {} } as unknown as RevisionParts,
    {
      deployment: { id: 'd', name: 'bot', workspace_id: 'w', limits: { memory_bytes: 1 << 30 } } as never,
      revision: { id: 'r', number: 1, dir, config_path: 'langgraph.json', env: {} },
      isFirst: true,
    },
    { log: () => undefined, signal: new AbortController().signal },
    { assertAllowed: assertBoundedCors, open: () => expect.unreachable() },
  )
}

function refusal(text: string) {
  return { code: 'deployment_failed', message: expect.stringContaining(text) }
}

it.each([
  ['SECRETS_', 'SECRETS_KEY'],
  ['LG_WEBHOOK_', 'LG_WEBHOOK_TOKEN'],
])('D-64, P-18: webhooks of deployed code get no variable %s… of the server', async (env_prefix, name) => {
  const webhooks = { env_prefix, headers: { 'x-told': `\${{ env.${name} }}` } }
  await expect(open({ webhooks })).rejects.toMatchObject(refusal(`${name}, which is not set`))
})

it('D-64: a pattern that could hold up the server is refused', async () => {
  const http = { cors: { allow_origin_regex: '(?=(a+)+$)https://x' } }
  await expect(open({ http })).rejects.toMatchObject(refusal('may have no look-around'))
})
