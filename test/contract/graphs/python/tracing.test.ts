import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PYTHON, withoutPython } from '../../../support/python.ts'
import { unknownClientReads } from '../../../support/runs/python-client-reads.ts'

const SCRIPT = fileURLToPath(new URL('../../../fixtures/python-tracing/threads.py', import.meta.url))
const HOST = fileURLToPath(new URL('../../../../hosts/python', import.meta.url))
const WITHOUT = withoutPython()

it.skipIf(WITHOUT !== '')(
  `D-45: the end of every TraceRun is sent, also of those that end in other threads while a batch is sent${WITHOUT}`,
  async () => {
    const { stdout, stderr } = await promisify(execFile)(PYTHON, [SCRIPT, HOST])
    expect([stdout.trim(), stderr]).toEqual(['0', ''])
  },
)

it.skipIf(WITHOUT !== '')(
  `D-45: the host has what LangSmith's SDK reads from a client${WITHOUT}`,
  async () => {
    const find = 'import sysconfig; print(sysconfig.get_path("purelib"))'
    const { stdout } = await promisify(execFile)(PYTHON, ['-c', find])
    expect(await unknownClientReads(stdout.trim())).toEqual([])
  },
)
