import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PYTHON, withoutPython } from '../../../support/python.ts'

const HOST = fileURLToPath(new URL('../../../../hosts/python', import.meta.url))
const without = withoutPython()

describe.skipIf(without !== '')(`what a Python project lacks${without}`, () => {
  let dir: string
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-refusals-'))
  })
  afterAll(() => rm(dir, { recursive: true }))

  it('an environment with LangGraph before 1 is refused with its version and the command', async () => {
    const info = join(dir, 'langgraph-0.4.5.dist-info')
    await mkdir(info)
    await writeFile(join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: langgraph\nVersion: 0.4.5\n')
    const host = spawn(PYTHON, [join(HOST, 'main.py'), 'graphs'], {
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
      env: { PYTHONPATH: dir },
    })
    const sent = (await buffer(host.stdio[3] as Readable)).toString()
    expect(sent).toContain('LangGraph 0.4.5 is installed for ')
    expect(sent).toMatch(/graphs need version 1: .+ pip install .*\\"langgraph>=1,<2\\"/)
  })

  it('a missing module of an installed package is reported with the version of the package, any other with its environment', async () => {
    const script = [
      'from weir_host.modules import missing_module',
      'print(missing_module("langchain_core.pydantic_v1"))',
      'print(missing_module("no_such_package"))',
    ].join('\n')
    const { stdout } = await promisify(execFile)(PYTHON, ['-c', script], { env: { PYTHONPATH: HOST } })
    const [inside, whole] = stdout.split('\n')
    expect(inside).toMatch(
      /^langchain-core \d\S+ of .+ has no such module: the project needs another version$/,
    )
    expect(whole).toMatch(/^for .+: install it in the project's environment$/)
  })
})
