import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import type { Report } from './programs.ts'
import { type Mapping, renderedProblems } from './rendered-chart.ts'

const ROOT = new URL('../../../', import.meta.url)
const CHART = new URL('deploy/helm/', ROOT)
const BUILT = fileURLToPath(new URL('.helm/helm', ROOT))
/** The Kubernetes version for which the chart is rendered. */
const KUBERNETES = '1.33.0'
const WITHOUT_HELM = 'because Helm is missing (test/helm/build)'
const run = promisify(execFile)

/** Settings that `values.schema.json` must refuse. */
const REFUSED = [
  'image.repository=',
  'image.tag=latest',
  'env.PORT=1',
  'replicas=0',
  'volumeMounts[0].name=x,volumeMounts[0].mountPath=/data',
  'ports.otlpGrpc=false',
  'ingress.enabled=true',
  'backup.enabled=true',
  'backup.schedule=daily',
  'autoscaling.waiting.source=keda',
  'monitoring.serviceMonitor.interval=often',
  'unknown=1',
]

/**
 * Problems of the chart in deploy/helm. If there is Helm (on the PATH, or built by test/helm/build), it lints the chart
 * and renders it with each file of `ci/`, and the result is checked. Without Helm, only the files are compared: values
 * with their schema and with the templates, and the beginnings of template blocks with their ends.
 */
export async function chartReport(): Promise<Report> {
  const problems = [
    ...valueProblems(),
    ...templateProblems(templates(), parse(read('values.yaml')) as Mapping),
  ]
  const helm = await findHelm()
  if (helm === undefined) {
    return { problems: named(problems), skipped: [`rendering the chart of deploy/helm, ${WITHOUT_HELM}`] }
  }
  for (const file of readdirSync(new URL('ci/', CHART))) problems.push(...(await helmProblems(helm, file)))
  for (const setting of REFUSED)
    if (await rendered(helm, ['--values', 'ci/least.yaml', '--set', setting]).catch(() => undefined))
      problems.push(`values.schema.json accepts ${setting}`)
  return { problems: named(problems), skipped: [] }
}

function named(problems: readonly string[]): string[] {
  return problems.map((problem) => `deploy/helm: ${problem}`)
}

function read(path: string): string {
  return readFileSync(new URL(path, CHART), 'utf8')
}

function templates(): Record<string, string> {
  const names = readdirSync(new URL('templates/', CHART))
  return Object.fromEntries(names.map((name) => [name, read(`templates/${name}`)]))
}

async function findHelm(): Promise<string | undefined> {
  if (existsSync(BUILT)) return BUILT
  return await run('helm', ['version', '--short']).then(
    () => 'helm',
    () => undefined,
  )
}

/**
 * Problems of the values. With each file of `ci/`, they must fit the schema. The chart must have the version of the
 * package. The settings that it sets must exist.
 */
function valueProblems(): string[] {
  const problems: string[] = []
  const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string }
  const chart = parse(read('Chart.yaml')) as Mapping
  if (chart['version'] !== version || chart['appVersion'] !== version)
    problems.push(`Chart.yaml: version and appVersion are not ${version}, the version of package.json`)
  const check = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')) as object)
  const settings = Object.keys(
    (
      JSON.parse(readFileSync(new URL('schemas/config.schema.json', ROOT), 'utf8')) as {
        properties: Mapping
      }
    ).properties,
  )
  for (const file of readdirSync(new URL('ci/', CHART))) {
    const values = merged(parse(read('values.yaml')) as Mapping, parse(read(`ci/${file}`)) as Mapping)
    if (!check(values)) problems.push(`ci/${file}: ${JSON.stringify(check.errors?.[0])}`)
    for (const name of Object.keys(values['env'] ?? {}))
      if (!settings.includes(name)) problems.push(`ci/${file}: ${name} is no setting`)
  }
  const named = [...templates()['statefulset.yaml']!.matchAll(/- name: ([A-Z][A-Z0-9_]+)$/gm)]
  for (const [, name = ''] of named)
    if (!settings.includes(name)) problems.push(`statefulset.yaml: ${name} is no setting`)
  return problems
}

/**
 * Problems of the templates of a chart: values that do not exist, values that no template uses, and blocks that are not
 * closed. Pure.
 */
export function templateProblems(files: Readonly<Record<string, string>>, values: Mapping): string[] {
  const problems: string[] = []
  const used = new Set<string>()
  for (const [name, text] of Object.entries(files)) {
    for (const [, path = ''] of text.matchAll(/\.Values\.([\w.]+)/g)) {
      used.add(path)
      if (!has(values, path)) problems.push(`${name}: there is no value ${path}`)
    }
    const opened = text.match(/\{\{-? *(if|with|range|define)\b/g)?.length ?? 0
    const ended = text.match(/\{\{-? *end\b/g)?.length ?? 0
    if (opened !== ended) problems.push(`${name}: ${opened} blocks begin, and ${ended} end`)
  }
  for (const path of leaves(values))
    if (![...used].some((one) => path === one || path.startsWith(`${one}.`)))
      problems.push(`values.yaml: no template uses ${path}`)
  return problems
}

function has(values: Mapping, path: string): boolean {
  let at: unknown = values
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false
    at = (at as Mapping)[key]
  }
  return true
}

function leaves(values: Mapping, prefix = ''): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isMapping && Object.keys(value).length > 0
      ? leaves(value as Mapping, `${prefix}${key}.`)
      : [`${prefix}${key}`]
  })
}

/** Merges values as Helm does: mappings by key; any other value is replaced as a whole. */
function merged(base: Mapping, over: Mapping): Mapping {
  const result = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const before = base[key]
    const both = [before, value].every(
      (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
    )
    result[key] = both ? merged(before as Mapping, value as Mapping) : value
  }
  return result
}

async function rendered(helm: string, args: readonly string[]): Promise<string> {
  const cwd = fileURLToPath(CHART)
  return (
    await run(helm, ['template', 'weir', '.', '--namespace', 'llm', '--kube-version', KUBERNETES, ...args], {
      cwd,
    })
  ).stdout
}

async function helmProblems(helm: string, file: string): Promise<string[]> {
  const values = ['--values', `ci/${file}`]
  try {
    await run(helm, ['lint', '--strict', '.', ...values], { cwd: fileURLToPath(CHART) })
    const text = await rendered(helm, values)
    return renderedProblems(text, parse(read(`ci/${file}`)) as Mapping).map((one) => `ci/${file}: ${one}`)
  } catch (error) {
    return [`ci/${file}: ${outputOf(error)}`]
  }
}

function outputOf(error: unknown): string {
  const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string }
  return `${stdout}${stderr}`.trim() || message
}

/** Renders the chart with arguments of Helm such as `--values FILE`; a problem if Helm refuses them. */
export async function renderChart(of: string, args: readonly string[]): Promise<Report> {
  const helm = await findHelm()
  if (helm === undefined) return { problems: [], skipped: [`${of}, ${WITHOUT_HELM}`] }
  return await rendered(helm, args).then(
    () => ({ problems: [], skipped: [] }),
    (error: unknown) => ({ problems: [`${of}: ${outputOf(error)}`], skipped: [] }),
  )
}
