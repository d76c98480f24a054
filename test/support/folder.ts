import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'

const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'weir-test-'))
const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5 })

/** An empty folder, which is removed after the test; to be called in a test or in a hook of each test. */
export async function newFolder(): Promise<string> {
  const folder = await makeFolder()
  onTestFinished(() => removeFolder(folder))
  return folder
}

/** Gives the tests of a file or a `describe` one folder, which `use` may fill. */
export function useFolder(use: (folder: string) => void | Promise<void>): void {
  let made: string | undefined
  beforeAll(async () => {
    made = await makeFolder()
    await use(made)
  })
  afterAll(async () => {
    if (made !== undefined) await removeFolder(made)
  })
}
