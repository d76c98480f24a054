import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadOwnProcessors } from './own-processors.ts'
import { useFolder } from '../../../test/support/folder.ts'

const EXAMPLE = fileURLToPath(new URL('../../../examples/processors/acme-chat.js', import.meta.url))
let dir: string

useFolder((folder) => void (dir = folder))

async function moduleOf(name: string, code: string): Promise<string> {
  const path = join(dir, `${name}.mjs`)
  await writeFile(path, code)
  return path
}

const one = (name: string): string => `{ name: '${name}', match: () => 0, normalize: () => ({}) }`

describe('loadOwnProcessors', () => {
  it('accepts a list and a default export, in order', async () => {
    const own = await moduleOf('default', `export default ${one('own')}`)
    const names = (await loadOwnProcessors([own, EXAMPLE])).map(({ name }) => name)
    expect(names).toEqual(['own', 'acme-chat'])
    expect(await loadOwnProcessors([])).toEqual([])
  })

  it.each([
    ['nothing', 'export const other = 1'],
    ['an-empty-list', 'export const processors = []'],
    ['half', `export const processors = [${one('whole')}, { name: 'half', match: () => 0 }]`],
    ['null', 'export default null'],
  ])('refuses a module that exports %s', async (name, code) => {
    await expect(loadOwnProcessors([await moduleOf(name, code)])).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`${name}.mjs must export processors`),
    })
  })

  it.each([
    ['syntax', 'export default {'],
    ['throws', 'throw new Error("no")'],
  ])('refuses a module that cannot be loaded: %s', async (name, code) => {
    await expect(loadOwnProcessors([await moduleOf(name, code)])).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('do not load'),
    })
  })

  it('refuses a module that does not exist', async () => {
    await expect(loadOwnProcessors([join(dir, 'gone.mjs')])).rejects.toMatchObject({ code: 'config_invalid' })
  })
})
