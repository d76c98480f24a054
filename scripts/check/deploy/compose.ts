import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { isPinned, SECRET_NAME } from './dockerfile.ts'
import { checkWith, type Program, type Report, ROOT, together } from './programs.ts'

const COMPOSE: Program = { name: 'compose-go', places: ['.compose/check'], origin: 'test/compose/build' }
const PROFILES: readonly (readonly string[])[] = [[], ['cluster']]
/** The variables that the file requires. */
const VARIABLES = { CLICKHOUSE_PASSWORD: 'x', CLUSTER_PASSWORD: 'x' }

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
    const there = source.startsWith('.') ? existsSync(join(ROOT, source)) : volumes.includes(source)
    if (!there) problems.push(`volume ${source} does not exist`)
  }
  return problems.map((problem) => `docker-compose.yml: ${name}: ${problem}`)
}

/**
 * Loads a Compose file as `docker compose` does, with the profiles. Paths in it begin at its folder.
 */
export function loadCompose(file: string, profiles: readonly string[], of: string): Report {
  return checkWith(COMPOSE, [file, ...profiles], { of, env: { ...process.env, ...VARIABLES } })
}

/** Problems of docker-compose.yml: what `docker compose` refuses with each profile, and what this project does not want. */
export function composeReport(): Report {
  const name = 'docker-compose.yml'
  const file = join(ROOT, name)
  const compose = parse(readFileSync(file, 'utf8'), { merge: true }) as ComposeFile
  const volumes = Object.keys(compose.volumes ?? {})
  const problems = Object.entries(compose.services).flatMap(([service, content]) =>
    serviceProblems(service, content, { volumes, services: Object.keys(compose.services) }),
  )
  const loaded = PROFILES.map((profiles) => loadCompose(file, profiles, [name, ...profiles].join(' ')))
  return together([{ problems, skipped: [] }, ...loaded])
}
