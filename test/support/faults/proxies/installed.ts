import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fixedPort } from '../../fixed-port.ts'
import { temporaryDir, until } from '../../stores/clickhouse/embedded-clickhouse.ts'
import { endWatched, spawnWatched } from '../../servers/watched-child.ts'

/** The proxies with the sizes of buffers and lines with which their packages come. */
const PROXIES = {
  haproxy: {
    command: (file: string) => ['-db', '-f', file],
    config: (port: number, targets: readonly URL[]) => `
defaults
  mode http
  timeout connect 5s
  timeout client 1m
  timeout server 1m
listen targets
  bind 127.0.0.1:${port}
${targets.map(({ host }, at) => `  server number${at} ${host}\n`).join('')}`,
  },
  nginx: {
    command: (file: string, dir: string) => ['-p', dir, '-c', file, '-e', join(dir, 'error.log')],
    config: (port: number, [target]: readonly URL[], dir: string) => `
daemon off;
master_process off;
pid ${join(dir, 'pid')};
events {}
http {
  access_log off;
  client_max_body_size 64m;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${join(dir, kind)};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass ${target?.origin}; }
  }
}
`,
  },
} as const

export type InstalledProxy = keyof typeof PROXIES

function programOf(name: InstalledProxy): string | undefined {
  const dirs = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin']
  return dirs.map((dir) => join(dir, name)).find((file) => existsSync(file))
}

/** The reason to skip tests that need this proxy, for their titles; '' when they can run. */
export function withoutProxy(name: InstalledProxy): string {
  return programOf(name) === undefined ? ` (${name} is not installed)` : ''
}

/** Starts the proxy in front of these servers, of which nginx uses only the first. */
export async function startInstalledProxy(
  name: InstalledProxy,
  ...targets: [string, ...string[]]
): Promise<{ url: string; stop(): Promise<void> }> {
  const program = programOf(name)
  if (program === undefined) throw new Error(`${name} is not installed`)
  const { dir, remove } = await temporaryDir()
  const port = await fixedPort()
  const { command, config } = PROXIES[name]
  const file = join(dir, `${name}.conf`)
  const urls = targets.map((target) => new URL(target))
  await writeFile(file, config(port, urls, dir))
  const child = spawnWatched([program, ...command(file, dir)], { signal: 'KILL', stderr: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  await until(`${name} answers`, () =>
    fetch(`${url}/ping`).then(
      ({ status }) => status < 500,
      () => false,
    ),
  )
  return {
    url,
    async stop() {
      await endWatched(child)
      await remove()
    },
  }
}
