import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The environment of a server that has these variables, such as LD_PRELOAD, together with all Node processes that it
 * starts: also those that do not get its environment, such as the embedded ClickHouse. Files go to `folder`.
 */
export async function preloadEverywhere(
  variables: Readonly<Record<string, string>>,
  folder: string,
): Promise<Record<string, string>> {
  const node = join(folder, 'node')
  const module = join(folder, 'preload-everywhere.mjs')
  const texts = Object.entries(variables).map(([name, value]) => `${name}='${value}'`)
  const command = `#!/bin/sh\nexec env ${texts.join(' ')} '${process.execPath}' "$@"\n`
  await writeFile(node, command, { mode: 0o755 })
  await writeFile(module, `process.execPath = ${JSON.stringify(node)}\n`)
  return { ...variables, NODE_OPTIONS: `--import=${module}` }
}
