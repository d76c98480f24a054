import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type BuildCommands, NO_COMMANDS } from '../model.ts'
import type { DiskLimit } from './disk-watch.ts'
import { installDependencies } from './install-dependencies.ts'
import { inLong } from '../../../test/support/length.ts'
import { newFolder } from '../../../test/support/folder.ts'

describe('P-20: dependencies of Node projects', () => {
  let dir: string
  let lines: string[]
  beforeEach(async () => {
    dir = await newFolder()
    lines = []
  })

  const tool = async (name: string, script: string): Promise<void> => {
    await writeFile(join(dir, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(dir, name), 0o755)
  }
  const install = (
    signal = new AbortController().signal,
    timeout_ms = 60_000,
    commands: Partial<BuildCommands> = {},
    disk?: DiskLimit,
    folders?: { root: string; caches: readonly string[] },
  ): Promise<void> =>
    installDependencies(dir, {
      ...(folders && { folders }),
      project: { javascript: true, python: undefined },
      env: { PATH: `${dir}:/usr/bin:/bin`, HOME: dir },
      commands: { ...NO_COMMANDS, ...commands },
      ...(disk && { disk }),
      timeout_ms,
      log: (line) => lines.push(line),
      signal,
      record: async () => async () => undefined,
    })

  it.each([
    ['package-lock.json', 'npm', /^ran ci .*--ignore-scripts$/],
    ['package.json', 'npm', /^ran install .*--ignore-scripts$/],
    ['pnpm-lock.yaml', 'pnpm', /^ran install --frozen-lockfile --ignore-scripts$/],
    ['yarn.lock', 'yarn', /^ran install --frozen-lockfile --ignore-scripts$/],
  ])('%s is installed by %s, in the folder, and its lines are logged', async (file, command, line) => {
    await writeFile(join(dir, file), '{}')
    await tool(command, 'echo ran $*; echo to stderr >&2; pwd > where')
    await install()
    expect(lines).toContainEqual(expect.stringMatching(line))
    expect(lines).toContain('to stderr')
    expect(lines).toContainEqual(expect.stringMatching(/Install scripts .* not run/))
    expect((await readFile(join(dir, 'where'), 'utf8')).trim()).toMatch(/weir-test-/)
  })

  it('a build that takes more disk than it may is ended, and says so', async () => {
    const disk = { max_bytes: 2 ** 20, max_files: 1_000, every_ms: 20 }
    const fill = (bytes: number, then: string) => `head -c ${bytes} /dev/zero > filled; ${then}`
    await install(undefined, undefined, { build_command: fill(2 ** 19, 'true') }, disk)
    await expect(
      install(undefined, undefined, { build_command: fill(2 ** 22, 'exec tail -f /dev/null') }, disk),
    ).rejects.toMatchObject({ code: 'build_failed', message: expect.stringMatching(/GiB of disk/) })
  })

  inLong(() => {
    it('a build that makes too many files is ended, and says so', async () => {
      const disk = { max_bytes: 2 ** 30, max_files: 50, every_ms: 20 }
      const build_command = 'for n in $(seq 60); do : > f$n; done; exec tail -f /dev/null'
      await expect(install(undefined, undefined, { build_command }, disk)).rejects.toMatchObject({
        message: 'The build makes more than 50 files.',
      })
    })
  })

  it('D-64: what a build prints without an end is cut, and the build goes on', async () => {
    await install(undefined, undefined, {
      build_command: 'head -c 50000000 /dev/zero | tr "\\0" a; echo; echo end',
    })
    expect(lines.slice(-2)).toEqual(['a'.repeat(4_000), 'end'])
  })

  it.each(['beside', 'cache'])('what a build writes to the folder %s of its own counts too', async (name) => {
    const root = await newFolder()
    const folders = { root: join(root, 'source'), caches: [join(root, 'cache')] }
    const to = name === 'cache' ? 'cache' : 'source/beside'
    for (const one of ['source', 'source/beside', 'cache']) await mkdir(join(root, one))
    // The cache has packages of earlier builds, which do not count.
    await writeFile(join(root, 'cache', 'earlier'), Buffer.alloc(2 ** 21))
    const disk = { max_bytes: 2 ** 20, max_files: 1_000, every_ms: 20 }
    const fill = (bytes: number, then: string) => `head -c ${bytes} /dev/zero > ${root}/${to}/filled; ${then}`
    await install(undefined, undefined, { build_command: fill(2 ** 19, 'true') }, disk, folders)
    await expect(
      install(
        undefined,
        undefined,
        { build_command: fill(2 ** 22, 'exec tail -f /dev/null') },
        disk,
        folders,
      ),
    ).rejects.toMatchObject({ code: 'build_failed', message: expect.stringMatching(/GiB of disk/) })
  })

  it('a project without package.json installs nothing', async () => {
    await install()
    expect(lines).toEqual(['There is no package.json: nothing is installed.'])
  })

  it('a package manager that is missing or fails is named', async () => {
    await writeFile(join(dir, 'pnpm-lock.yaml'), '')
    const missing = 'The project has a pnpm-lock.yaml, and pnpm is not installed on this server.'
    await expect(install()).rejects.toMatchObject({ code: 'build_failed', message: missing })
    await tool('pnpm', 'exit 3')
    await expect(install()).rejects.toMatchObject({ message: 'pnpm install ended with code 3.' })
  })

  inLong(() => {
    it('a build that takes too long ends with its children', async () => {
      await writeFile(join(dir, 'package.json'), '{}')
      await tool('npm', 'sleep 600 & wait')
      await expect(install(undefined, 60)).rejects.toMatchObject({
        message: 'npm install was ended: a build may take 0.001 minutes.',
      })
    })
  })

  it.each(['exec kill -9 $$', 'exit 137'])(
    'a build that is killed (%s) says that memory may be short',
    async (script) => {
      await writeFile(join(dir, 'package.json'), '{}')
      await tool('npm', script)
      await expect(install()).rejects.toMatchObject({
        message: expect.stringMatching(/^npm install was ended by SIGKILL\. .*not enough memory/),
      })
    },
  )

  it('an interrupted build ends with the reason of its signal', async () => {
    await writeFile(join(dir, 'package.json'), '{}')
    const abort = new AbortController()
    await tool('npm', 'echo started; sleep 600')
    const ended = install(abort.signal)
    await expect.poll(() => lines).toContain('started')
    abort.abort(new Error('interrupted'))
    await expect(ended).rejects.toThrow('interrupted')
    await expect(install(abort.signal)).rejects.toThrow('interrupted')
    expect((await stat(dir)).isDirectory()).toBe(true)
  })

  it('commands of the deployment run in the folder: one in place of the package manager, one after it', async () => {
    await writeFile(join(dir, 'package.json'), '{}')
    await tool('npm', 'echo npm >> ran')
    await install(undefined, undefined, { build_command: 'echo build | tee -a ran' })
    await install(undefined, undefined, {
      install_command: 'echo install >> ran',
      build_command: 'echo b >> ran',
    })
    expect(await readFile(join(dir, 'ran'), 'utf8')).toBe('npm\nbuild\ninstall\nb\n')
    expect(lines).toContain('build_command: echo build | tee -a ran')
    expect(lines).toContain('build')
    const failing = install(undefined, undefined, { install_command: 'exit 4', build_command: 'touch never' })
    await expect(failing).rejects.toMatchObject({
      code: 'build_failed',
      message: 'install_command ended with code 4.',
    })
    await expect(stat(join(dir, 'never'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  inLong(() => {
    it('npm itself installs a project from its lock file', async () => {
      const project = { name: 'p', version: '1.0.0' }
      const lock = { ...project, lockfileVersion: 3, requires: true, packages: { '': project } }
      await writeFile(join(dir, 'package.json'), JSON.stringify(project))
      await writeFile(join(dir, 'package-lock.json'), JSON.stringify(lock))
      const { PATH = '' } = process.env
      await installDependencies(dir, {
        project: { javascript: true, python: undefined },
        env: { PATH, HOME: dir },
        timeout_ms: 60_000,
        log: (line) => lines.push(line),
        signal: new AbortController().signal,
        record: async () => async () => undefined,
      })
      expect(lines.join('\n')).toMatch(/up to date|added 0|audited/)
    })
  })
})
