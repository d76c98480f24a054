import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { createDeployment, deployGreeter } from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { hostileDeployments, NOT_THERE } from '../../support/deployments/hostile-deployments.ts'
import { withoutContainers } from '../../support/deployments/without-containers.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const reason = await withoutContainers()
const noDocker = await withoutContainers('docker')
const ENV = { DEPLOY_RUNTIME: 'container' }
const { DOCKER_HOST } = process.env
const DOCKER = {
  ...ENV,
  DEPLOY_CONTAINER_COMMAND: 'docker',
  ...(DOCKER_HOST !== undefined && { DOCKER_HOST }),
}

describe.skipIf(reason !== undefined)('P-23: a hostile graph in a container', () => {
  hostileDeployments({ isolation: 'container', runtime: 'container', seen: NOT_THERE, env: ENV })
})

describe.skipIf(noDocker !== undefined)('P-23: a hostile graph in a container of docker', () => {
  hostileDeployments({ isolation: 'container', runtime: 'container', seen: NOT_THERE, env: DOCKER })
})

describe.skipIf(reason !== undefined)('deployments in containers', () => {
  const server = useOwnWeir(ENV)
  const podman = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('podman', args)).stdout.trim()
  const containers = async (): Promise<string[]> =>
    (await podman('ps', '--all', '--quiet', '--filter', 'label=weir.server')).split('\n').filter(Boolean)
  const said = async (): Promise<unknown> => {
    const run = { assistant_id: 'agent', input: {} }
    return server.current().json('/deployments/contained/runs/wait', jsonBody('POST', run))
  }

  it('P-16, P-36: secrets are in no argument; what a killed server leaves is removed, and the deployment serves again', async () => {
    let weir = server.current()
    const { id } = await createDeployment(weir, 'contained')
    const secrets = [{ name: 'GREETING', value: 'a-secret-in-a-container' }]
    expect(await deployGreeter(weir, id, 'from', secrets)).toMatchObject({ status: 'DEPLOYED' })
    expect(await said()).toEqual({ said: 'from a-secret-in-a-container' })
    const old = await containers()
    expect(old.length).toBeGreaterThan(0)
    const { stdout: commands } = await promisify(execFile)('ps', ['-eo', 'args'])
    expect(commands).toContain('--preserve-fds')
    expect(commands).not.toContain('a-secret-in-a-container')

    // A container that is killed from outside must not be reported as out of memory.
    const [host = ''] = old
    await podman('kill', host)
    await eventually(async () => {
      const { logs } = await weir.json<{ logs: { message: string }[] }>(
        `/api-host/v1/projects/${id}/deploy_logs`,
        jsonBody('POST', { query: 'ended' }),
      )
      expect(logs.map(({ message }) => message).join()).toMatch(/SIGKILL/)
      expect(logs.map(({ message }) => message).join()).not.toMatch(/memory/)
    })
    expect(await said()).toEqual({ said: 'from a-secret-in-a-container' })

    await weir.kill()
    weir = await server.startAgain()
    await eventually(async () => expect(await said()).toEqual({ said: 'from a-secret-in-a-container' }))
    const left = await containers()
    expect(left.filter((one) => old.includes(one))).toEqual([])
    expect((await weir.fetch(`/v2/deployments/${id}`, { method: 'DELETE' })).status).toBe(204)
    await eventually(async () => expect(await containers()).toEqual([]))
  })
})
