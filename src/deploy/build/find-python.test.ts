import { access, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { findProgram } from '../isolation/find-program.ts'
import { findPython } from './find-python.ts'
import { newFolder } from '../../../test/support/folder.ts'

let dir: string
beforeEach(async () => {
  dir = await newFolder()
  await mkdir(join(dir, 'bin'))
})

async function program(name: string, lines: readonly string[]): Promise<void> {
  await writeFile(join(dir, name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })
}

function python(version: string): string[] {
  return [`printf '%s\\n' /usr/bin/python${version} /usr ${version}`]
}

it('P-28: finds the version that a project asks for, else python3', async () => {
  await program('bin/python3', python('3.13'))
  await program('bin/python3.11', python('3.11'))
  const env = { PATH: join(dir, 'bin') }
  expect(await findPython(env, '3.11')).toMatchObject({ version: '3.11' })
  for (const asked of ['3.12', undefined])
    expect(await findPython(env, asked)).toMatchObject({ version: '3.13' })
})

it('D-64: runs no file of a project that its python_version leads to', async () => {
  await program('bin/python3', python('3.13'))
  await program('attack', [`touch ${join(dir, 'attacked')}`, ...python('3.12')])
  const env = { PATH: join(dir, 'bin') }
  for (const asked of ['/../../attack', '3/../../attack', '3.12/../../attack'])
    expect(await findPython(env, asked)).toMatchObject({ version: '3.13' })
  await expect(access(join(dir, 'attacked'))).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await findProgram('../attack', env)).toBeUndefined()
})
