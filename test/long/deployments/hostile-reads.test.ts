import { beforeAll, describe, expect, it } from 'vitest'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  greeter,
} from '../../support/deployments/deploy-project.ts'
import {
  BUILDS,
  callMeanwhile,
  deployAttackers,
  deployBuilt,
  NODES,
  runAttackers,
} from '../../support/deployments/hostile-reads.ts'
import { withoutContainers } from '../../support/deployments/without-containers.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'

// bench/deployments/hostile-reads.bench.ts measures how much slower others become.
describe('D-64: what deployed code in a process leaves for the server to read', () => hostileReads('process'))

const absent = await withoutContainers()
const why = absent === undefined ? '' : ` (${absent})`
describe.skipIf(absent !== undefined)(
  `D-64: what deployed code in a container leaves for the server to read${why}`,
  () => hostileReads('container'),
)

function hostileReads(runtime: 'process' | 'container'): void {
  const own = useOwnWeir({ DEPLOY_BUILDS: '4', DEPLOY_START_SECONDS: '120', DEPLOY_RUNTIME: runtime })
  beforeAll(async () => {
    const weir = own.current()
    const { id } = await createDeployment(weir, 'innocent')
    const { id: revision } = await addRevision(weir, id, await archiveOf(greeter('hello')))
    expect(await endedRevision(weir, id, revision)).toMatchObject({
      status: 'DEPLOYED',
    })
  })

  it('fails the build that left it, and nothing of others', async () => {
    const weir = own.current()
    const attacks = BUILDS.map(([what, command]) => deployBuilt(weir, `build-${what}`, command))
    const { result: revisions } = await callMeanwhile(weir, 'innocent', Promise.all(attacks))
    for (const [at, [what, , message]] of BUILDS.entries())
      expect
        .soft([what, revisions[at]?.status, revisions[at]?.weir.error?.message ?? null])
        .toEqual([
          what,
          message === null ? 'DEPLOYED' : 'DEPLOY_FAILED',
          message === null ? null : expect.stringMatching(message),
        ])
  }, 300_000) // Ten builds, each with a start of at most 120 s, on a machine with two cores.

  it('fails the run that sent it, and nothing of others', async () => {
    const weir = own.current()
    expect(await deployAttackers(weir)).toMatchObject({ status: 'DEPLOYED' })
    const { result: answers } = await callMeanwhile(weir, 'innocent', runAttackers(weir))
    for (const [at, [what, , message]] of NODES.entries())
      expect.soft([what, answers[at]]).toEqual([what, expect.stringMatching(message ?? /"n":1/)])
  }, 300_000) // A build, and starts of hosts after those that were ended, on a machine with two cores.
}
