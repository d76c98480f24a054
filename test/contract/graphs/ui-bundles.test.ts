import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { startUiBundles } from '../../../src/graph/ui-bundles/ui-bundles.ts'
import { newFolder } from '../../support/folder.ts'

it('bundling UI components leaves no folder behind', async () => {
  const scratch = await newFolder()
  const folder = resolve('test/fixtures/projects/portal')
  const bundles = startUiBundles({
    file: { folder, env: {}, ui: { components: { agent: './src/ui.tsx' }, shared: [] } },
    environment: { ...process.env, TMPDIR: scratch },
    logger: createLogger({ level: 'silent' }),
    record: async () => async () => undefined,
    watch: false,
  })
  expect([...((await bundles.bundle('agent'))?.keys() ?? [])]).toContain('entrypoint.js')
  await bundles.stop()
  expect((await readdir(scratch)).filter((name) => name.startsWith('weir-'))).toEqual([])
})

it('P-16: the error of a bundle of a deployment has no values of secrets', async () => {
  const bundles = startUiBundles({
    file: {
      folder: resolve('test/fixtures/projects/portal'),
      env: {},
      ui: { components: { agent: './src/secret-123.tsx' }, shared: [] },
    },
    environment: process.env,
    logger: createLogger({ level: 'silent' }),
    mask: (text) => text.replaceAll('secret-123', '***'),
    record: async () => async () => undefined,
    watch: false,
  })
  const { message } = await bundles.bundle('agent').then(
    () => new Error('It was bundled.'),
    (error: Error) => error,
  )
  expect(message).toContain('***')
  expect(message).not.toContain('secret-123')
  await bundles.stop()
})
