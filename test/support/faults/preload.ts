import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The environment of a server that makes the server and all Node processes below it have these variables, such as
 * LD_PRELOAD, also processes that are started with another environment, such as the embedded ClickHouse; except those
 * whose arguments contain `except`. Files are written to `folder`.
 */
export async function preloadEverywhere(
  variables: Readonly<Record<string, string>>,
  folder: string,
  except?: string,
): Promise<Record<string, string>> {
  const node = join(folder, 'node')
  const module = join(folder, 'preload-everywhere.mjs')
  const texts = Object.entries(variables).map(([name, value]) => `${name}='${value}'`)
  const plain = `exec '${process.execPath}' "$@"`
  const exception = except === undefined ? '' : `case "$*" in *'${except}'*) ${plain} ;; esac\n`
  const command = `exec env ${texts.join(' ')} '${process.execPath}' "$@"`
  await writeFile(node, `#!/bin/sh\n${exception}${command}\n`, { mode: 0o755 })
  await writeFile(module, `process.execPath = ${JSON.stringify(node)}\n`)
  return { ...variables, NODE_OPTIONS: `--import=${module}` }
}
