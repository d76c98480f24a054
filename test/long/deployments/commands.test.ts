import { beforeAll, describe, expect, it, vi } from 'vitest'
import { openCheckedApi } from '../../conformance/openapi/checked-api.ts'
import {
  createDeployment,
  deployGreeter,
  endedRevision,
  GREETING,
  greetingOf,
  latestRevision,
} from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'
import { KEY } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const server = useOwnWeir()
let id: string
beforeAll(async () => {
  const weir = server.current()
  ;({ id } = await createDeployment(weir, 'greeter'))
  expect(await deployGreeter(weir, id, 'one')).toMatchObject({ status: 'DEPLOYED' })
})

const answer = (): Promise<unknown> => greetingOf(server.current(), 'greeter')

describe('a deployment with a secret', () => {
  it('P-36: is there after a restart, which refuses another key of secrets', async () => {
    expect(await answer()).toBe(`one ${GREETING.value}`)
    expect(await server.current().stop()).toBe(0)
    const withOtherKey = server.startAgain({ SECRETS_KEY: 'another-key-0123456789' })
    await expect(withOtherKey).rejects.toThrow('secrets_unreadable')
    await server.startAgain()
    await eventually(async () => expect(await answer()).toBe(`one ${GREETING.value}`))
  })

  it('P-20: other commands build the same source anew; a command that fails changes nothing', async () => {
    const weir = server.current()
    const api = await openCheckedApi(weir.url)
    const buildWith = async (build_command: string): Promise<unknown> => {
      const body = { source_config: { build_command } }
      const changed = await api({ key: KEY, method: 'PATCH', path: `/v2/deployments/${id}`, body })
      expect(changed).toMatchObject({ status: 200, body })
      return await endedRevision(weir, id, (await latestRevision(weir, id)).id)
    }
    expect(await buildWith('exit 7')).toMatchObject({
      status: 'BUILD_FAILED',
      weir: { error: { message: 'build_command ended with code 7.' } },
    })
    expect(await answer()).toBe(`one ${GREETING.value}`)
    expect(await buildWith('sed -i s/one/built/ src/agent.ts')).toMatchObject({ status: 'DEPLOYED' })
    expect(await answer()).toBe(`built ${GREETING.value}`)
  })
})
