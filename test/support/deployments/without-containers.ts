import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openContainers } from '../../../src/deploy/isolation/containers.ts'

/** Why the containers of this command, or of the first that works, do not work here; undefined when they do. */
export async function withoutContainers(command?: string): Promise<string | undefined> {
  const packages = join(process.cwd(), 'node_modules')
  const probed = await openContainers({ env: process.env, packages, dataDir: tmpdir(), command })
  if (!('reason' in probed)) return undefined
  console.log(`skipped: deployments in containers: ${probed.reason}`)
  return probed.reason
}
