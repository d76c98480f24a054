import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dashed } from '../../src/base/ids.ts'
import { LONG_MS } from '../support/campaign.ts'
import { eventually } from '../support/eventually.ts'
import { borrowWeir, type UsedWeir } from '../support/servers/use-weir.ts'
import {
  aliasOf,
  exporterEnvironments,
  exporterPython,
  javascriptClients,
  withoutField,
} from './installed.ts'
import { CLIENTS } from './table.ts'

// On a busy machine an exporter's process starts slowly.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

let weir: UsedWeir
beforeAll(async () => {
  weir = await borrowWeir('/weir/deployment')
})
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
})

const script = (name: string): string => fileURLToPath(new URL(`clients/${name}`, import.meta.url))
const exporters = (language: string) =>
  CLIENTS.filter(([one, name]) => one === language && name.includes('exporter'))

/** What a program prints, as JSON. */
async function run(command: string, args: string[], env: Record<string, string>): Promise<unknown> {
  const { stdout } = await promisify(execFile)(command, args, {
    env: { PATH: process.env['PATH'] ?? '', KEY: weir.key, ...env },
  })
  return JSON.parse(stdout)
}

/** Each trace is a model call with its tokens. */
async function expectCalls(ids: string[]): Promise<void> {
  for (const id of ids)
    await eventually(async () => {
      const { root } = await weir.json<{ root: object }>(`/api/v1/traces/${dashed(id)}`)
      expect(root).toMatchObject({ name: 'chat gpt-4o', run_type: 'llm', total_tokens: 18 })
    })
}

const withoutJavascript = withoutField(javascriptClients())
describe.skipIf(withoutJavascript !== '')(`exporters for JavaScript${withoutJavascript}`, () => {
  it.each(exporters('javascript'))('%s: %s %s of %s sends a model call', async (...row) => {
    const folder = join(javascriptClients().path, 'node_modules', aliasOf(row))
    const url = row[1].endsWith('-grpc') ? weir.otlpGrpcUrl : `${weir.url}/v1/traces`
    const id = await run(
      process.execPath,
      [script('export-spans.mjs'), folder, url, `field-${randomUUID()}`],
      {},
    )
    await expectCalls([id as string])
  })
})

const withoutPip = withoutField(...exporterEnvironments())
describe.skipIf(withoutPip !== '')(`exporters for Python${withoutPip}`, () => {
  it.each(exporters('python'))('%s: %s %s of %s sends model calls over HTTP and gRPC', async (...row) => {
    const urls = { HTTP_URL: `${weir.url}/v1/traces`, GRPC_URL: weir.otlpGrpcUrl }
    const env = { ...urls, PROJECT: `field-${randomUUID()}` }
    const ids = await run(exporterPython(row), ['-W', 'ignore', script('export_spans.py')], env)
    await expectCalls(ids as string[])
  })
})
