import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { startWeir, type WeirProcess } from '../servers/weir-process.ts'

/** Variables by which npm and pip find their registries. */
const NETWORK =
  /^(?:HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|npm_config_registry|PIP_\w+|https?_proxy|no_proxy)$/i

/** A server, and a project for tests that deploy it with a LangGraph command line. */
export interface DeployCli {
  /** A folder that is removed after the tests. */
  dir: string
  /** A copy of examples/deployment in it, with SECRET in its .env. */
  project: string
  weir: WeirProcess
}

/** The secret GREETING of the project. */
export const SECRET = 'Welcome-in-secret'

/** Starts the server. Read the result inside tests and hooks only. */
export function useDeployCli(): () => DeployCli {
  let made: DeployCli | undefined
  const current = (): DeployCli => {
    if (made === undefined) throw new Error('the server has not started')
    return made
  }
  beforeAll(async () => {
    const dir = await mkdtemp(join(tmpdir(), 'weir-deploy-cli-'))
    const project = join(dir, 'project')
    await cp(fileURLToPath(new URL('../../../examples/deployment', import.meta.url)), project, {
      recursive: true,
    })
    await writeFile(join(project, '.env'), `GREETING=${SECRET}\n`)
    // The server gets the registry variables of this process, so that its builds can download packages.
    const network = Object.entries(process.env).filter(([name]) => NETWORK.test(name))
    const weir = await startWeir(join(dir, 'data'), Object.fromEntries(network) as Record<string, string>)
    made = { dir, project, weir }
  })
  afterAll(async () => {
    const { dir, weir } = current()
    expect(await weir.stop()).toBe(0)
    await rm(dir, { recursive: true, force: true })
  })
  return current
}

/** Whether the packages in the list `wanted` are installed. Their installer copies that list to `installed`. */
export function isUpToDate(installed: string, wanted: string): boolean {
  return existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(wanted, 'utf8')
}
