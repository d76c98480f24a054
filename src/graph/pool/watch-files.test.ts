import { execFile } from 'node:child_process'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { type FileWatch, watchFiles } from './watch-files.ts'
import { inLong } from '../../../test/support/length.ts'
import { newFolder } from '../../../test/support/folder.ts'

let dir: string
let watch: FileWatch
let told: string[]
let failures: string[]
const at = (...names: string[]): string => join(dir, ...names)
/** Waits until changes of these files are reported. Reports before the previous call do not count. */
const expectTold = (...files: string[]): Promise<void> =>
  eventually(async () => {
    expect(told).toEqual(expect.arrayContaining(files))
  }).then(() => void told.splice(0))

beforeEach(async () => {
  dir = await newFolder()
  told = []
  failures = []
  watch = watchFiles({
    changed: (files) => told.push(...files),
    failed: (folder, error) => failures.push(`${folder}: ${String(error)}`),
  })
})
afterEach(async () => {
  watch.close()
})

describe('watchFiles', () => {
  it('reports files that are written, replaced by an editor, removed and created, and no others', async () => {
    await writeFile(at('a.ts'), '1')
    watch.add([at('a.ts'), at('b.ts')])
    await writeFile(at('other.ts'), '1')
    await writeFile(at('a.ts'), '2')
    await eventually(async () => expect([...new Set(told)]).toEqual([at('a.ts')]))
    for (let n = 0; n < 3; n++) {
      await writeFile(at('a.ts~'), String(n))
      await rename(at('a.ts~'), at('a.ts'))
      await expectTold(at('a.ts'))
    }
    await rm(at('a.ts'))
    await writeFile(at('b.ts'), '1')
    await expectTold(at('a.ts'), at('b.ts'))
    await writeFile(at('a.ts'), '3')
    await expectTold(at('a.ts'))
  })

  it('follows folders that are created, removed and replaced', async () => {
    watch.add([at('deep', 'lib', 'c.ts')])
    await mkdir(at('deep', 'lib'), { recursive: true })
    await writeFile(at('deep', 'lib', 'c.ts'), '1')
    await expectTold(at('deep', 'lib', 'c.ts'))
    await writeFile(at('deep', 'lib', 'c.ts'), '2')
    await expectTold(at('deep', 'lib', 'c.ts'))
    await mkdir(at('next'))
    await writeFile(at('next', 'c.ts'), '3')
    await rm(at('deep', 'lib'), { recursive: true })
    await expectTold(at('deep', 'lib', 'c.ts'))
    await rename(at('next'), at('deep', 'lib'))
    await expectTold(at('deep', 'lib', 'c.ts'))
    await writeFile(at('deep', 'lib', 'c.ts'), '4')
    await expectTold(at('deep', 'lib', 'c.ts'))
  })

  inLong(() => {
    it('reports changes in folders that are created and removed faster than it scans', async () => {
      const file = at('deep', 'lib', 'c.ts')
      watch.add([file])
      const storm = 'for n in $(seq 300); do mkdir -p deep/lib; rm -rf deep; done; mkdir -p deep/lib'
      await promisify(execFile)('sh', ['-c', storm], { cwd: dir })
      for (let n = 0; n < 5; n++) {
        await writeFile(file, String(n))
        await expectTold(file)
      }
      expect(failures).toEqual([])
    })
  })
})
