import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { startWeir, type WeirEnvironment, type WeirProcess } from './weir-process.ts'

/** A server that only the tests of one file use. */
export interface OwnWeir {
  /** The running server; read this inside tests and hooks only. */
  current(): WeirProcess
  /** Starts the server on the same data, after it was stopped or killed. */
  startAgain(env?: WeirEnvironment): Promise<WeirProcess>
}

/** Starts a server with these settings on a new folder. After the tests it must end with exit code 0. */
export function useOwnWeir(env: WeirEnvironment = {}): OwnWeir {
  let folder = ''
  let weir: WeirProcess | undefined
  const start = async (settings: WeirEnvironment): Promise<WeirProcess> =>
    (weir = await startWeir(join(folder, 'data'), settings))
  const current = (): WeirProcess => {
    if (weir === undefined) throw new Error('the server has not started')
    return weir
  }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-own-'))
    // Deployments may run as other users, which need access to their files.
    await chmod(folder, 0o711)
    await start(env)
  })
  afterAll(async () => {
    expect(await current().stop()).toBe(0)
    await rm(folder, { recursive: true, force: true })
  })
  return { current, startAgain: (settings = env) => start(settings) }
}
