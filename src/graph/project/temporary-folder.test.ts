import { spawnSync } from 'node:child_process'
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { LONGEST_FOLDER_NAME, makeTemporaryFolder } from './temporary-folder.ts'
import { newFolder } from '../../../test/support/folder.ts'

it('removes folders whose process has ended, and no others', async () => {
  const parent = await newFolder()
  const living = await makeTemporaryFolder(parent, 'app')
  expect((await stat(living)).mode & 0o077).toBe(0)
  expect(basename(living).length).toBeLessThanOrEqual(LONGEST_FOLDER_NAME)
  const dead = String(spawnSync(process.execPath, ['-e', '']).pid)
  const left = (await makeTemporaryFolder(parent, 'app')).replace(String(process.pid), dead)
  await rename(join(parent, (await readdir(parent)).find((name) => name !== basename(living)) ?? ''), left)
  await writeFile(join(left, 'socket'), '')
  const others = ['weir-app-', `weir-app-${dead}-abcdef`, `other-${dead}`]
  for (const name of others) await mkdir(join(parent, name))

  const ui = await makeTemporaryFolder(parent, 'ui')
  expect(await readdir(parent)).toContain(basename(left))
  const next = await makeTemporaryFolder(parent, 'app')
  expect(new Set(await readdir(parent))).toEqual(
    new Set([...[living, ui, next].map((path) => basename(path)), ...others]),
  )
})
