import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { env } from 'node:process'
import { promisify } from 'node:util'
import { eventually } from '../support/eventually.ts'
import { fixedPort } from '../support/fixed-port.ts'
import { KEY } from '../support/servers/weir-process.ts'

/** The image that `test/image/build` makes. */
const IMAGE = 'localhost/weir-test'
/** The user `node` of the image, and the group that owns the volumes of the chart. */
const USER = 1000
const PODMAN = 'podman'
/** Flags that are tried, in this order. If crun cannot set up a container, runc may be able to. */
const RUNTIMES = [[], ['--runtime', 'runc']] as const
/**
 * What the chart sets, with the network of this machine instead of a pod's. Without the limits of open files and
 * processes, runtimes set some above those of this machine, which it may refuse.
 */
const AS_IN_CHART = [
  ...['--network', 'host', '--read-only', '--read-only-tmpfs=false', '--user', `${USER}:${USER}`],
  ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
  ...['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'],
]

/** The flags with which podman starts containers here, or the reason to skip tests of the image, for their titles. */
export const IMAGE_RUNTIME = findRuntime()

function findRuntime(): { flags: readonly string[] } | { reason: string } {
  const { WITHOUT_PODMAN, WITHOUT_IMAGE } = env
  if (process.getuid?.() !== 0) return { reason: ' (only root can give the volumes the group of the chart)' }
  if (WITHOUT_PODMAN === '1' || spawnSync(PODMAN, ['--version']).status !== 0)
    return { reason: ' (podman is not installed)' }
  if (spawnSync(PODMAN, ['image', 'exists', IMAGE]).status !== 0)
    return { reason: ` (${WITHOUT_IMAGE ?? 'test/image/build has not been run'})` }
  let stderr = ''
  for (const flags of RUNTIMES) {
    const tried = spawnSync(PODMAN, [...flags, 'run', '--rm', ...AS_IN_CHART, IMAGE, 'true'], {
      encoding: 'utf8',
    })
    if (tried.status === 0) return { flags }
    stderr = tried.stderr.trim().split('\n').at(-1) ?? ''
  }
  return { reason: ` (podman cannot start containers here: ${stderr})` }
}

/** A container of the image. */
export interface ImageContainer {
  readonly url: string
  readonly deploymentUrl: string
  /** Executes a command in the container; rejects if it fails. */
  exec(...command: string[]): Promise<string>
  /** Executes the health check of the image; rejects if it fails. */
  healthcheck(): Promise<unknown>
  /** Pid of the server on this machine. */
  pid(): Promise<number>
  /** Ends the container as Kubernetes does, with kill -9 after the grace; resolves with the exit code. */
  stop(graceSeconds: number): Promise<number>
  start(): Promise<void>
  remove(): Promise<void>
}

/**
 * Creates a container with volumes in this folder that belong to root and the group of the chart. It is not started
 * yet.
 */
export async function createImageContainer(
  dir: string,
  settings: Readonly<Record<string, string>>,
): Promise<ImageContainer> {
  if ('reason' in IMAGE_RUNTIME) throw new Error(IMAGE_RUNTIME.reason)
  const { flags } = IMAGE_RUNTIME
  const podman = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(PODMAN, [...flags, ...args])).stdout.trim()
  const name = `weir-image-${randomUUID()}`
  const [port, deploymentPort] = [await fixedPort(), await fixedPort()]
  const variables = {
    HOST: '127.0.0.1',
    PORT: String(port),
    DEPLOYMENT_PORT: String(deploymentPort),
    OTLP_GRPC_PORT: String(await fixedPort()),
    BOOTSTRAP_API_KEY: KEY,
    ...settings,
  }
  const volumes = [await volumeOf(dir, 'data', 0o2775), await volumeOf(dir, 'tmp', 0o2777)]
  await podman(
    ...['create', '--name', name, ...AS_IN_CHART, ...volumes],
    ...Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    IMAGE,
  )
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    deploymentUrl: `http://127.0.0.1:${deploymentPort}`,
    exec: (...command) => podman('exec', name, ...command),
    healthcheck: () => podman('healthcheck', 'run', name),
    pid: async () => Number(await podman('inspect', '--format', '{{.State.Pid}}', name)),
    async stop(graceSeconds) {
      await podman('stop', '--time', String(graceSeconds), name)
      return Number(await podman('inspect', '--format', '{{.State.ExitCode}}', name))
    },
    async start() {
      await podman('start', name)
      await eventually(async () => {
        const answer = await fetch(`${url}/ready`)
        if (!answer.ok) throw new Error(`/ready: ${answer.status} ${await answer.text()}`)
      })
    },
    remove: async () => void (await podman('rm', '--force', name)),
  }
}

/** The flag for a folder that is a volume as kubelet prepares it for the chart's `fsGroup`. */
async function volumeOf(dir: string, name: string, mode: number): Promise<string> {
  const path = join(dir, name)
  await mkdir(path)
  await chown(path, 0, USER)
  await chmod(path, mode)
  return `--volume=${path}:/${name}`
}
