import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { PYTHON, withoutPython } from '../../../support/python.ts'

const HOST = fileURLToPath(new URL('../../../../hosts/python', import.meta.url))
const without = withoutPython()

describe.skipIf(without !== '')(`what a Python project lacks${without}`, () => {
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
