import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { preloadEverywhere } from './preload.ts'

/** libfaketime where Debian installs it, by architecture; undefined if it is not installed. */
export const CLOCK_LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file))

/**
 * The embedded ClickHouse keeps its clock: libfaketime does not change the time that it reads, but moves the ends of its
 * timed waits by the offset. The engine then spins, or waits for the whole offset.
 */
const ENGINE = 'clickhouse/embedded/child'

/** The clock of some processes, which tests can set while these run. */
export interface FakeClock {
  /** The environment of a server that gives the server and its graph hosts this clock. */
  env: Record<string, string>
  /** Sets the difference from the right time in seconds, such as `+3600`. Durations are not affected. */
  set(offset: string): Promise<void>
}

/** Makes a clock that is right at first. Its files are written to `folder`. */
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
