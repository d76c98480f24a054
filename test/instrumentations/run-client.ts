import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { WeirProcess } from '../support/servers/server.ts'
import { compare } from './compare.ts'
import { readProject } from './read-back.ts'
import type { Row } from './table.ts'
import type { MeteredVendor } from './vendor/metered-vendor.ts'

/**
 * A client that is a separate program. It gets its addresses in environment variables, and prints its versions last.
 */
export interface ClientProgram {
  title: string
  file: string
  args: readonly string[]
  cwd?: string
  /** The project to which it sends its traces; its environment has it as PROJECT. */
  project: string
}

/** Time limit of a client in milliseconds: it imports its whole framework, which takes half a minute on a busy machine. */
export const CLIENT_MS = 120_000

/** The servers of a test, and a home folder for clients. */
export interface ClientWorld {
  weir: WeirProcess
  vendor: MeteredVendor
  home: string
}

/** Runs a client to its end. Compares the vendor's bills with what is read back. */
export async function runClient(program: ClientProgram, { weir, vendor, home }: ClientWorld): Promise<Row> {
  const { title, file, args, cwd, project } = program
  const { PATH = '' } = process.env
  const env = {
    PATH,
    HOME: home,
    WEIR_URL: weir.url,
    WEIR_KEY: weir.key,
    PROJECT: project,
    VENDOR_URL: vendor.url,
  }
  const { stdout } = await promisify(execFile)(file, args, { env, ...(cwd !== undefined && { cwd }) })
  const calls = vendor.take()
  expect(calls.length, title).toBeGreaterThan(0)
  const versions = stdout.trim().split('\n').at(-1) ?? ''
  return { title, versions, cells: compare(calls, await readProject(weir, project)) }
}
