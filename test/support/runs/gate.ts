import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryDir } from '../stores/clickhouse/embedded-clickhouse.ts'

/** A node of the graph `tokens` that has `file` among its `gates` waits until this gate is opened. */
export interface Gate {
  readonly file: string
  open(): Promise<void>
}

/** A closed gate for the current test. */
export async function newGate(): Promise<Gate> {
  const { dir, remove } = await temporaryDir()
  onTestFinished(remove)
  const file = join(dir, 'open')
  return { file, open: () => writeFile(file, '') }
}
