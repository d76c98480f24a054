import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const RUFF = join(ROOT, '.venv/bin/ruff')
const FOLDERS = ['hosts/python', 'bench', 'examples']
const COMMANDS = [
  [RUFF, 'format', '--check', ...FOLDERS],
  [RUFF, 'check', ...FOLDERS],
  [process.execPath, 'node_modules/pyright/index.js'],
] as const

/** Checks the Python code with ruff (format, lint) and pyright (types), which need the packages of `.venv`. */
function main(): void {
  if (!existsSync(RUFF)) {
    console.log('skipped: ruff and pyright, because .venv has no ruff (test/python/install)')
    return
  }
  for (const [command, ...args] of COMMANDS) {
    const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}

main()
