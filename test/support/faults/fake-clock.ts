import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { preloadEverywhere } from './preload.ts'

/** libfaketime where Debian installs it, by architecture; undefined if it is not installed. */
export const CLOCK_LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file))

/**
 * The embedded ClickHouse keeps the system clock. Under libfaketime it would read the right time, but its timed waits
 * would end too early or too late by the offset, so it would spin, or wait for as long as the offset.
 */
const ENGINE = 'clickhouse/embedded/child'

/** A clock that tests can set while the processes that use it run. */
export interface FakeClock {
  /** Environment variables for a server; the server and its graph hosts then use this clock. */
  env: Record<string, string>
  /** Sets the offset from the system clock in seconds, such as `+3600`. Durations are not affected. */
  set(offset: string): Promise<void>
}

/** Makes a clock with the offset 0. Its files are in `folder`. */
export async function makeFakeClock(folder: string): Promise<FakeClock> {
  const file = join(folder, 'offset')
  const set = (offset: string): Promise<void> => writeFile(file, offset)
  await mkdir(folder, { recursive: true })
  await set('+0')
  const variables = {
    LD_PRELOAD: CLOCK_LIBRARY ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  return { env: await preloadEverywhere(variables, folder, ENGINE), set }
}
