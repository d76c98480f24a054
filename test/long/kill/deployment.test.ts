import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  greeter,
  latestRevision,
} from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { newGate } from '../../support/runs/gate.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

let dir: string
let weir: WeirProcess | undefined
afterEach(async () => {
  await weir?.stop()
  await rm(dir, { recursive: true, force: true })
})

/** Makes a folder with an `npm` that records its start, and then waits for the gate. */
async function slowNpm(mark: string, gate: string): Promise<string> {
  const folder = join(dir, 'bin')
  await mkdir(folder)
  const text = `#!/bin/sh\necho begun >> '${mark}'\nwhile [ ! -e '${gate}' ]; do sleep 0.05; done\nmkdir -p node_modules\n`
  await writeFile(join(folder, 'npm'), text)
  await chmod(join(folder, 'npm'), 0o755)
  return folder
}

describe('a server that is killed while it builds', () => {
  it('P-5: builds again after its start, and serves the revision', async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-deploy-kill-'))
    const gate = await newGate()
    const bin = await slowNpm(join(dir, 'begun'), gate.file)
    const data = join(dir, 'data')
    const env = { PATH: `${bin}:${process.env['PATH']}` }
    const first = await startWeir(data, env)
    weir = first
    const { id } = await createDeployment(first, 'killed')
    const project = { ...greeter('built', 'types'), 'package.json': '{}' }
    const { id: revision_id } = await addRevision(first, id, await archiveOf(project))
    await eventually(async () =>
      expect(await latestRevision(first, id)).toMatchObject({ status: 'BUILDING' }),
    )
    await first.kill()

    weir = await startWeir(data, env)
    await gate.open()
    const ended = await endedRevision(weir, id, revision_id)
    expect(ended).toMatchObject({ status: 'DEPLOYED', weir: { number: 1, is_active: true } })
    const run = await weir.json(
      '/deployments/killed/runs/wait',
      jsonBody('POST', { assistant_id: 'agent', input: {} }),
    )
    expect(run).toEqual({ said: 'built nothing' })
  })
})
