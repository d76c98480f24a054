import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import type { ProcessUser } from '../../base/node/confined-command.ts'
import { takeFiles } from './user-files.ts'

export interface DeploymentUsers {
  host: ProcessUser
  builder: ProcessUser
}

/** The user ids that a server gives to its deployments, two to each, from `first` on. */
export interface ServerIds {
  first: number
  deployments: number
  /** The user of the check at the start; no deployment runs as this user. */
  probe: ProcessUser
}

/**
 * The user ids of each deployment. They are stored as the owner of its folder `home`, so that they survive a restart.
 */
export interface UserIds {
  /**
   * The ids of a deployment; assigns new ids if it has none. @throws AppError deployment_failed if all ids are assigned
   */
  of(deployment_id: string): Promise<DeploymentUsers>
  find(deployment_id: string): Promise<DeploymentUsers | undefined>
}

/** The first assigned id. It is above the ids that Linux distributions, systemd and container runtimes assign. */
const FIRST = 1_900_000_000
/** Number of blocks of ids; servers of one machine have different blocks. */
const BLOCKS = 65_536
const PER_BLOCK = 2048
const PER_DEPLOYMENT = 2

export function idsOfServer(dataDir: string): ServerIds {
  const block = createHash('sha256').update(dataDir).digest().readUInt32LE(0) % BLOCKS
  const first = FIRST + block * PER_BLOCK
  return { first, deployments: PER_BLOCK / PER_DEPLOYMENT - 1, probe: userOf(first + PER_BLOCK - 1) }
}

/** A user without further groups. */
export function userOf(id: number): ProcessUser {
  return { uid: id, gid: id }
}

/** Ids of the deployments that have a folder in `users`. */
export function createUserIds(users: string, ids: ServerIds): UserIds {
  const homeOf = (deployment_id: string): string => join(users, deployment_id, 'home')
  /** File with the last assigned place. It is kept when the deployment of that place is deleted. */
  const lastFile = join(users, 'last')
  let last: Promise<unknown> = Promise.resolve()

  async function placeOf(deployment_id: string): Promise<number | undefined> {
    const found = await stat(homeOf(deployment_id)).catch(() => undefined)
    const place = found && (found.uid - ids.first) / PER_DEPLOYMENT
    return place !== undefined && place >= 0 && place < ids.deployments ? place : undefined
  }
  async function give(deployment_id: string): Promise<number> {
    const known = await placeOf(deployment_id)
    if (known !== undefined) return known
    const given = await Promise.all((await readdir(users)).map(placeOf))
    const before = Number.parseInt(await readFile(lastFile, 'utf8').catch(() => ''), 10)
    const free = freePlace(
      given.filter((place) => place !== undefined),
      ids.deployments,
      Number.isNaN(before) ? undefined : before,
    )
    if (free === undefined) {
      const message = `All ${ids.deployments} user ids of this server are given to deployments.`
      throw new AppError('deployment_failed', { message })
    }
    await writeFile(lastFile, String(free))
    const home = homeOf(deployment_id)
    await mkdir(home, { recursive: true, mode: 0o700 })
    await chmod(dirname(home), 0o711)
    const { host } = usersAt(ids, free)
    // A server with another DATA_DIR may have left files in this folder.
    await takeFiles(home, host)
    return free
  }
  return {
    async of(deployment_id) {
      // Calls run one after another, so that no two deployments get the same user ids.
      const next = last.then(() => give(deployment_id))
      last = next.catch(() => undefined)
      return usersAt(ids, await next)
    },
    async find(deployment_id) {
      const place = await placeOf(deployment_id)
      return place === undefined ? undefined : usersAt(ids, place)
    },
  }
}

/**
 * Returns the next free place after the last assigned one. A deleted deployment may have left files in folders that all
 * users share, so its ids are not assigned again soon.
 */
export function freePlace(
  given: readonly number[],
  places: number,
  last: number = Math.max(-1, ...given),
): number | undefined {
  const taken = new Set(given)
  const start = last + 1
  for (let n = 0; n < places; n += 1) {
    const place = (start + n) % places
    if (!taken.has(place)) return place
  }
  return undefined
}

function usersAt({ first }: ServerIds, place: number): DeploymentUsers {
  const id = first + place * PER_DEPLOYMENT
  return { host: userOf(id), builder: userOf(id + 1) }
}
