import { UMASK_VARIABLE } from '../../base/files/umask.ts'
import type { Config } from '../../config.ts'

/**
 * Makes new files and folders of this process accessible only to their owner, even in a folder that others may read.
 * User code runs with the umask with which the server was started.
 */
export function keepFilesPrivate(config: Config): Config {
  const before = process.umask(0o077)
  const { runs } = config
  const environment = { ...runs.environment, [UMASK_VARIABLE]: before.toString(8) }
  return Object.freeze({ ...config, runs: Object.freeze({ ...runs, environment }) })
}
