import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createUserIds, freePlace, idsOfServer } from './user-ids.ts'
import { newFolder } from '../../../test/support/folder.ts'

describe('P-23: user ids of deployments', () => {
  it('servers of one machine give different ones, all within a range that nobody else gives', () => {
    const all = ['/a', '/b', '/c'].map((dataDir) => idsOfServer(dataDir))
    expect(new Set(all.map(({ first }) => first)).size).toBe(3)
    expect(idsOfServer('/a')).toEqual(all[0])
    for (const { first, probe } of all) {
      expect(first).toBeGreaterThanOrEqual(1_900_000_000)
      expect(probe.uid).toBeLessThan(2 ** 31)
    }
  })

  it('gives the place after the last one, then free ones', () => {
    expect(freePlace([], 3)).toBe(0)
    expect(freePlace([1], 3)).toBe(2)
    expect(freePlace([2], 3)).toBe(0)
    expect(freePlace([0, 2], 3)).toBe(1)
    expect(freePlace([0, 1, 2], 3)).toBeUndefined()
    expect(freePlace([0], 3, 1)).toBe(2)
    expect(freePlace([0], 3, 2)).toBe(1)
  })

  describe.skipIf(process.getuid?.() !== 0)('of a server that is root', () => {
    let users: string
    beforeEach(async () => void (users = await newFolder()))

    it('are different for each deployment, also when asked for at once, and known after a restart', async () => {
      const ids = { ...idsOfServer('/a'), deployments: 3 }
      const known = createUserIds(users, ids)
      const [a, b, again] = await Promise.all([known.of('a'), known.of('b'), known.of('a')])
      expect(again).toEqual(a)
      expect(new Set([a, b].flatMap(({ host, builder }) => [host.uid, builder.uid])).size).toBe(4)
      expect(await createUserIds(users, ids).find('b')).toEqual(b)
      expect(await known.find('c')).toBeUndefined()
      const home = await stat(join(users, 'a', 'home'))
      expect([home.uid, home.mode & 0o777]).toEqual([a.host.uid, 0o700])

      await known.of('c')
      await expect(known.of('d')).rejects.toMatchObject({ code: 'deployment_failed' })
      await rm(join(users, 'a'), { recursive: true })
      expect(await known.of('d')).toEqual(a)
    })

    it('are not those of the deployment that was deleted last, also after a restart', async () => {
      const ids = idsOfServer('/a')
      const a = await createUserIds(users, ids).of('a')
      await rm(join(users, 'a'), { recursive: true })
      const b = await createUserIds(users, ids).of('b')
      expect(b.host.uid).toBeGreaterThan(a.builder.uid)
    })

    it('have the files of its home, when the server has another DATA_DIR than before', async () => {
      await createUserIds(users, idsOfServer('/a')).of('a')
      const file = join(users, 'a', 'home', 'file')
      await writeFile(file, '')
      const { host } = await createUserIds(users, idsOfServer('/b')).of('a')
      expect(await stat(file)).toMatchObject(host)
    })
  })
})
