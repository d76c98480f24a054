import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type BuildCommands, NO_COMMANDS } from '../model.ts'
import { installDependencies } from './install-dependencies.ts'
import { moveEnvironment } from './move-environment.ts'
import type { PythonProject } from './python-steps.ts'
import { newFolder } from '../../../test/support/folder.ts'

/** A Python of version 3.12; the Python of its environments records its arguments. */
const PYTHON = `if [ "$1" = -c ]; then printf '%s\\n' "$0" /opt/python 3.12; exit; fi
mkdir -p .venv/bin; printf '#!/bin/sh\\necho "ran $*" config "$PIP_CONFIG_FILE"\\n' > .venv/bin/python; chmod +x .venv/bin/python
echo "$*"`

describe('P-20: dependencies of Python projects', () => {
  let dir: string
  let lines: string[]
  beforeEach(async () => {
    dir = await newFolder()
    lines = []
    // The PATH has only this folder, so that no other program is found, such as the Python of the machine.
    await mkdir(join(dir, 'bin'))
    for (const name of ['sh', 'mkdir', 'chmod']) await symlink(`/bin/${name}`, join(dir, 'bin', name))
  })

  const tool = async (name: string, script: string): Promise<void> => {
    await writeFile(join(dir, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(dir, name), 0o755)
  }
  const install = (
    python: Partial<PythonProject> = {},
    commands: Partial<BuildCommands> = {},
  ): Promise<void> =>
    installDependencies(dir, {
      project: {
        javascript: false,
        python: {
          dependencies: ['.'],
          python_version: undefined,
          pip_config_file: undefined,
          uses_uv: false,
          ...python,
        },
      },
      env: { PATH: `${dir}/shims:${dir}:${dir}/bin`, HOME: dir },
      commands: { ...NO_COMMANDS, ...commands },
      timeout_ms: 60_000,
      log: (line) => lines.push(line),
      signal: new AbortController().signal,
      record: async () => async () => undefined,
    })

  it('folders are installed as they say, packages by name, into an environment beside langgraph.json', async () => {
    await tool('python3.12', PYTHON)
    await mkdir(join(dir, 'lib'))
    await mkdir(join(dir, 'plain'))
    await writeFile(join(dir, 'pyproject.toml'), '')
    await writeFile(join(dir, 'lib/requirements.txt'), '')
    await install({
      dependencies: ['.', './lib', './plain', 'langgraph>=1'],
      pip_config_file: 'pip.conf',
      python_version: '3.12',
    })
    expect(lines).toContain('-m venv --clear .venv')
    expect(lines).toContain('pip install --editable . --requirement lib/requirements.txt langgraph>=1')
    expect(lines).toContain(
      `ran -m pip install --only-binary :all: --editable . --requirement lib/requirements.txt langgraph>=1 config ${dir}/pip.conf`,
    )
    expect(lines).toContainEqual(expect.stringMatching(/^Only packages that are built already/))
  })

  it('another Python than the one that is asked for is said; without one the build fails', async () => {
    await expect(install()).rejects.toMatchObject({
      code: 'build_failed',
      message: expect.stringMatching(/Python 3\.11 or newer is not installed/),
    })
    await tool('python3', PYTHON)
    await install({ python_version: '3.13', dependencies: [] })
    expect(lines).toContain('langgraph.json asks for Python 3.13; the graphs run on Python 3.12.')
    expect(lines).toContain('"dependencies" of langgraph.json names nothing to install.')
  })

  it('a Python that is too old is passed over', async () => {
    await tool('python3', PYTHON.replace('3.12', '3.10'))
    await expect(install()).rejects.toMatchObject({ code: 'build_failed' })
  })

  it.each([
    ['a uv.lock', true, {}],
    ['source.kind', false, { uses_uv: true }],
  ])('%s is for uv, which must be there', async (_, hasLock, python) => {
    await tool('python3', PYTHON)
    if (hasLock) await writeFile(join(dir, 'uv.lock'), '')
    await expect(install(python)).rejects.toMatchObject({
      message: expect.stringMatching(/uv is not installed/),
    })
    await mkdir(join(dir, 'shims'))
    await writeFile(join(dir, 'shims', 'uv'), '#!/bin/sh\nexit 127\n', { mode: 0o755 })
    await expect(install(python)).rejects.toMatchObject({
      message: expect.stringMatching(/shims\/uv only starts the uv of a version manager/),
    })
    await tool('uv', 'echo "uv ran $* in $UV_PROJECT_ENVIRONMENT, downloads $UV_PYTHON_DOWNLOADS"')
    await install(python)
    const ran = 'uv ran sync --frozen --no-dev --no-build --no-install-project in .venv, downloads never'
    expect(lines).toContain(ran)
  })

  it('commands of the deployment run in the environment', async () => {
    await tool('python3', PYTHON)
    await install({}, { install_command: 'python x; echo "$VIRTUAL_ENV"', build_command: 'python y' })
    expect(lines.filter((line) => /^ran|\.venv$/.test(line))).toEqual([
      '-m venv --clear .venv',
      'ran x config ',
      join(dir, '.venv'),
      'ran y config ',
    ])
  })
})

describe('moveEnvironment', () => {
  it('replaces the folder in programs and in links to packages, and nothing else', async () => {
    const from = await newFolder()
    const environment = join(from, '.venv')
    const packages = join(environment, 'lib/python3.12/site-packages')
    await mkdir(join(environment, 'bin'), { recursive: true })
    await mkdir(packages, { recursive: true })
    const files = {
      'pyvenv.cfg': `command = python -m venv ${environment}\n`,
      'bin/tool': `#!${environment}/bin/python\n`,
      'bin/program': `\u007fELF ${environment}`,
      'lib/python3.12/site-packages/__editable__.agent-1.pth': `${from}/src\n`,
      'lib/python3.12/site-packages/data.txt': from,
    }
    for (const [name, text] of Object.entries(files)) await writeFile(join(environment, name), text)
    await moveEnvironment(environment, from, '/kept')
    const read = (name: string) => readFile(join(environment, name), 'utf8')
    expect(await read('pyvenv.cfg')).toBe('command = python -m venv /kept/.venv\n')
    expect(await read('bin/tool')).toBe('#!/kept/.venv/bin/python\n')
    expect(await read('bin/program')).toBe(files['bin/program'])
    expect(await read('lib/python3.12/site-packages/__editable__.agent-1.pth')).toBe('/kept/src\n')
    expect(await read('lib/python3.12/site-packages/data.txt')).toBe(from)
  })
  it('D-64: changes no file that a link of the build leads to', async () => {
    const root = await newFolder()
    const [from, others] = [join(root, 'build'), join(root, 'others')]
    const environment = join(from, '.venv')
    await mkdir(join(environment, 'lib/python3.12'), { recursive: true })
    await mkdir(others)
    const text = `#!${environment}/bin/python\n`
    for (const name of ['tool', 'own.pth']) await writeFile(join(others, name), text)
    await symlink(others, join(environment, 'bin'))
    await symlink(others, join(environment, 'lib/python3.12/site-packages'))
    await moveEnvironment(environment, from, '/kept')
    for (const name of ['tool', 'own.pth']) expect(await readFile(join(others, name), 'utf8')).toBe(text)
  })
})
