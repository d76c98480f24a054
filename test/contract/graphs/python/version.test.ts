import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { MAIN } from '../../../../src/graph/python/interpreter.ts'
import { PYTHON, withoutPython } from '../../../support/python.ts'
import { newFolder } from '../../../support/folder.ts'

const WITHOUT = withoutPython()

it.skipIf(WITHOUT !== '')(
  `P-28: a LangGraph that is too old is named, with the command that installs another one${WITHOUT}`,
  async () => {
    const folder = await newFolder()
    const about = join(folder, 'langgraph-0.4.5.dist-info')
    await mkdir(about)
    await writeFile(join(about, 'METADATA'), 'Metadata-Version: 2.1\nName: langgraph\nVersion: 0.4.5\n')
    const host = spawn(PYTHON, [MAIN, 'graphs'], {
      env: { PYTHONPATH: folder },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    const frame = await buffer(host.stdio[3] as Readable)
    const { message } = JSON.parse(frame.subarray(8).toString()) as { message: string }
    expect(message).toContain(`LangGraph 0.4.5 is installed for ${PYTHON}, and graphs need version 1: `)
    expect(message).toContain(`${PYTHON} -m pip install "langgraph>=1,<2"`)
  },
)
