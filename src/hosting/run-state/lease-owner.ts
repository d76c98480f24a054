import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { instanceOf } from '../../storage/own-stores.ts'

/**
 * The owner of the leases of this process. The next process on the same DATA_DIR has the same owner, so that it takes
 * over runs and webhooks at once. Servers that share a database may have the same instance id because DATA_DIR was
 * copied, so the owner also contains the place of DATA_DIR: the boot of the machine, the device and the inode. If the
 * place has changed, leases end only when they expire.
 */
export async function leaseOwner(config: Pick<Config, 'dataDir' | 'databaseUrl'>): Promise<string> {
  const instance = await instanceOf(config)
  if (config.databaseUrl === undefined) return instance
  const { dev, ino } = await stat(resolve(config.dataDir), { bigint: true })
  return `${instance} on ${await bootId()} ${dev}:${ino}`
}

/** The id of the boot, which only Linux has. */
async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => hostname())).trim()
}
