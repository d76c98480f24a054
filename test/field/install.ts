import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  agentEnvironments,
  exporterEnvironments,
  type FieldFolder,
  frameworks,
  isInstalled,
  javascriptClients,
  langgraphServer,
  langsmithEnvironments,
  markOf,
  pythonClients,
} from './installed.ts'

const PIP = [
  '-m',
  'pip',
  'install',
  '--quiet',
  '--disable-pip-version-check',
  '--no-compile',
  '--root-user-action=ignore',
]

function run(command: string, args: readonly string[], cwd?: string): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
}

function npmInstall({ path, wanted }: FieldFolder): void {
  writeFileSync(join(path, 'package.json'), wanted)
  run(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', '--loglevel=error'],
    path,
  )
}

/** Empties a folder, fills it, and marks it as complete, unless it is. */
function fill(folder: FieldFolder, install: (folder: FieldFolder) => void): void {
  if (isInstalled(folder)) return
  rmSync(folder.path, { recursive: true, force: true })
  mkdirSync(folder.path, { recursive: true })
  install(folder)
  writeFileSync(markOf(folder), folder.wanted)
}

const python = process.argv[2]
fill(javascriptClients(), npmInstall)
fill(frameworks('javascript'), npmInstall)
if (python !== undefined) {
  for (const folder of pythonClients())
    fill(folder, ({ path, wanted }) => run(python, [...PIP, '--no-deps', '--target', path, wanted]))
  for (const folder of [
    ...langsmithEnvironments(),
    ...exporterEnvironments(),
    ...agentEnvironments(),
    langgraphServer(),
    frameworks('python'),
  ])
    fill(folder, ({ path, wanted }) => {
      run(python, ['-m', 'venv', path])
      run(join(path, 'bin', 'python'), [...PIP, ...wanted.split('\n')])
    })
}
