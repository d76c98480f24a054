import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Environment variables of a server that set the given variables, such as LD_PRELOAD, in the server and in all Node
 * processes below it. This includes processes that are started with another environment, such as the process of the
 * embedded ClickHouse. Processes whose arguments contain `except` do not get the variables. Files are written to
 * `folder`.
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
