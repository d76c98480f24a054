import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { chartProblems } from './chart.ts'

const ROOT = new URL('../../', import.meta.url)
const SECRET_NAME = /password|secret|api_key|token/i

interface ComposeService {
  image?: string
  build?: unknown
  environment?: Record<string, unknown>
  healthcheck?: unknown
  restart?: string
  depends_on?: Record<string, unknown>
  volumes?: string[]
}

interface ComposeFile {
  services: Record<string, ComposeService>
  volumes?: Record<string, unknown>
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

/**
 * Whether an image has an exact version. An image without a tag, with `latest` or with only a major version can change
 * without notice.
 */
function isPinned(image: string): boolean {
  return /@sha256:[0-9a-f]{64}$/.test(image) || /:(?!latest$)[\w.-]*\d[\w.-]*$/.test(image)
}

/** The instructions of a Dockerfile, without comments. Continued lines are joined. */
function instructions(dockerfile: string): [name: string, rest: string][] {
  const joined = dockerfile.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, ' ')
  return joined
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => [line.split(/\s+/)[0]?.toUpperCase() ?? '', line.replace(/^\S+\s*/, '')])
}

function copiedPaths(rest: string): string[] {
  if (rest.includes('--from=')) return []
  return rest
    .split(/\s+/)
    .filter((word) => !word.startsWith('--'))
    .slice(0, -1)
}

function dockerfileProblems(text: string): string[] {
  const problems: string[] = []
  const all = instructions(text)
  const stages = new Set(
    all.flatMap(([name, rest]) => (name === 'FROM' ? (/\sAS\s+(\S+)/i.exec(rest)?.[1] ?? []) : [])),
  )
  for (const [name, rest] of all) {
    const image = rest.split(/\s+/)[0] ?? ''
    if (name === 'FROM' && !stages.has(image) && !isPinned(image))
      problems.push(`FROM ${image} is not pinned`)
    if (name === 'ADD') problems.push('use COPY, not ADD')
    if (/^(CMD|ENTRYPOINT)$/.test(name) && !rest.startsWith('['))
      problems.push(`${name} must be a JSON array`)
    if (/^(ENV|ARG)$/.test(name) && SECRET_NAME.test(rest)) problems.push(`${name} holds a secret: ${rest}`)
    if (name !== 'COPY') continue
    for (const path of copiedPaths(rest)) {
      if (!existsSync(new URL(path, ROOT))) problems.push(`COPY of ${path}, which does not exist`)
    }
  }
  const lastFrom = all.findLastIndex(([name]) => name === 'FROM')
  const final = all.slice(lastFrom).map(([name]) => name)
  for (const needed of ['USER', 'HEALTHCHECK', 'CMD', 'VOLUME']) {
    if (!final.includes(needed)) problems.push(`the last stage has no ${needed}`)
  }
  return problems.map((problem) => `Dockerfile: ${problem}`)
}

function serviceProblems(
  name: string,
  service: ComposeService,
  { volumes, services }: { volumes: readonly string[]; services: readonly string[] },
): string[] {
  const problems: string[] = []
  for (const other of Object.keys(service.depends_on ?? {}))
    if (!services.includes(other)) problems.push(`it depends on ${other}, which is no service`)
  if (service.image === undefined && service.build === undefined) problems.push('no image and no build')
  if (service.build === undefined && !isPinned(service.image ?? ''))
    problems.push(`image ${service.image} is not pinned`)
  if (service.healthcheck === undefined && service.restart !== 'no') problems.push('no healthcheck')
  if (service.restart === undefined) problems.push('no restart policy')
  for (const [variable, value] of Object.entries(service.environment ?? {})) {
    const text = String(value)
    if (SECRET_NAME.test(variable) && text !== '' && !text.includes('${'))
      problems.push(`${variable} is in the file`)
  }
  for (const volume of service.volumes ?? []) {
    const source = volume.split(':')[0] ?? ''
    const there = source.startsWith('.') ? existsSync(new URL(source, ROOT)) : volumes.includes(source)
    if (!there) problems.push(`volume ${source} does not exist`)
  }
  return problems.map((problem) => `docker-compose.yml: ${name}: ${problem}`)
}

function composeProblems(text: string): string[] {
  const compose = parse(text, { merge: true }) as ComposeFile
  const volumes = Object.keys(compose.volumes ?? {})
  return Object.entries(compose.services).flatMap(([name, service]) =>
    serviceProblems(name, service, { volumes, services: Object.keys(compose.services) }),
  )
}

const chart = await chartProblems()
const problems = [
  ...dockerfileProblems(read('Dockerfile')),
  ...composeProblems(read('docker-compose.yml')),
  ...chart.problems,
]
for (const problem of problems) console.error(problem)
console.log(`Dockerfile, docker-compose.yml and deploy/helm (${chart.how}), ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
