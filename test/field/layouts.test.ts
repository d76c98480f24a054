import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it, vi } from 'vitest'
import { LONG_MS } from '../support/campaign.ts'
import { startWeir } from '../support/servers/server.ts'
import { frameworks, withoutField } from './installed.ts'
import { type LayoutRow, LAYOUTS } from './table.ts'

// A host loads LangChain, which takes long on a busy machine.
vi.setConfig({ testTimeout: LONG_MS })

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url))

/** Makes the project of a layout, with the installed packages where the tools of the layout have them. */
async function project([language, , folder, , model]: LayoutRow): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'weir-layout-'))
  await cp(join(FIXTURES, 'field-projects', folder), dir, { recursive: true })
  await cp(join(FIXTURES, 'field', basename(model)), join(dir, model))
  const { path } = frameworks(language)
  if (language === 'python') await symlink(path, join(dir, '.venv'))
  else await symlink(join(path, 'node_modules'), join(dir, 'node_modules'))
  if (folder === 'pnpm') {
    const scope = join(dir, 'apps/agent/node_modules/@trips')
    await mkdir(scope, { recursive: true })
    await symlink('../../../../packages/sums', join(scope, 'sums'))
  }
  return dir
}

describe('layouts of projects', () => {
  for (const row of LAYOUTS) {
    const [language, name, , graphs] = row
    const without = withoutField(frameworks(language))
    it.skipIf(without !== '')(
      `a project for ${language} is hosted: ${name}; its graph answers after a tool call${without}`,
      async () => {
        const dir = await project(row)
        const weir = await startWeir({ GRAPHS: join(dir, graphs), OTLP_GRPC_PORT: '0' })
        try {
          const client = new Client({ apiUrl: weir.deploymentUrl, apiKey: weir.key })
          const input = { messages: [{ role: 'user', content: '1 + 2' }] }
          const values = await client.runs.wait(null, 'agent', { input, raiseError: false })
          expect(values).toMatchObject({ messages: expect.any(Array) as unknown })
          const { messages } = values as { messages: object[] }
          expect(messages.at(-1)).toMatchObject({ type: 'ai', content: 'the sum is 3' })
        } finally {
          await weir.stop()
          await rm(dir, { recursive: true })
        }
      },
    )
  }
})
