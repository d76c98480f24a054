import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { readConfig } from '../../../src/config.ts'
import { createRegistry } from '../../../src/schema/registry.ts'
import { parseSetup } from '../../../src/setup/parse-setup.ts'
import { renderChart } from './chart.ts'
import { loadCompose } from './compose.ts'
import { type Printed, printedIn } from './printed.ts'
import { checkWith, type Program, type Report, ROOT, together } from './programs.ts'

const PAGES = ['*.md', 'docs/**/*.md', 'deploy/**/*.md', 'examples/**/*.md']
const HAPROXY_FILES = ['deploy/cluster/haproxy.cfg']

const NGINX: Program = { name: 'nginx', places: ['nginx'], origin: "Debian's nginx-light" }
const HAPROXY: Program = { name: 'haproxy', places: ['haproxy'], origin: "Debian's haproxy" }
const PROMTOOL: Program = { name: 'promtool', places: ['promtool'], origin: "Debian's prometheus" }
const SYSTEMD: Program = { name: 'systemd-analyze', places: ['systemd-analyze'], origin: "Debian's systemd" }
const COLLECTOR: Program = {
  name: 'the Collector',
  places: ['.collector/collector'],
  origin: 'test/collector/build',
}
const BASH: Program = { name: 'bash', places: ['bash'], origin: "Debian's bash" }
const OPENSSL: Program = { name: 'openssl', places: ['openssl'], origin: "Debian's openssl" }

/** A printed configuration in a folder of its own. */
interface Block {
  /** The page, the line and the name of the file, for messages. */
  of: string
  dir: string
  path: string
  text: string
}

type Check = (block: Block) => Report | Promise<Report>

const NOTHING: Report = { problems: [], skipped: [] }

function problem(of: string, error: unknown): Report {
  return { problems: [`${of}: ${error instanceof Error ? error.message : String(error)}`], skipped: [] }
}

/** nginx opens what a configuration names, so ports become sockets, and certificates one made for the check. */
function checkNginx({ of, dir, path, text }: Block): Report {
  const certificate = ['-keyout', 'cert.pem', '-out', 'cert.pem', '-subj', '/CN=weir', '-days', '1']
  const made = checkWith(
    OPENSSL,
    ['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...certificate],
    { of, cwd: dir },
  )
  if (made.skipped.length + made.problems.length > 0) return made
  let sockets = 0
  const own = text
    .replace(/^(\s*ssl_certificate(?:_key)?\s+)[^;]+;/gm, `$1${dir}/cert.pem;`)
    .replace(/^(\s*listen\s+)[^\s;]+/gm, (_, listen: string) => `${listen}unix:${dir}/${(sockets += 1)}.sock`)
  writeFileSync(path, own)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${dir}/${name};`,
  )
  const whole = `pid ${dir}/pid;\nevents {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\ninclude ${path};\n}\n`
  writeFileSync(join(dir, 'nginx.conf'), whole)
  const args = ['-t', '-q', '-p', dir, '-c', join(dir, 'nginx.conf'), '-e', 'stderr']
  return checkWith(NGINX, args, { of, isBad: (output) => output !== '' })
}

function checkHaproxy(of: string, path: string): Report {
  return checkWith(HAPROXY, ['-c', '-f', path], { of })
}

/** The unit runs a program that is not on this machine, so another one takes its place. */
function checkUnit({ of, dir, text }: Block): Report {
  const path = join(dir, 'weir.service')
  writeFileSync(path, text.replace(/^(Exec\w+=)\S+/gm, '$1/bin/true'))
  return checkWith(SYSTEMD, ['verify', '--man=no', path], { of, isBad: (output) => output.includes(dir) })
}

/** A block that has only exporters gets a receiver and a pipeline. */
function checkCollector({ of, path, text }: Block): Report {
  const given = parse(text) as Record<string, object>
  const pipeline = { receivers: ['otlp'], exporters: Object.keys(given['exporters'] ?? {}) }
  const whole = {
    receivers: { otlp: { protocols: { http: {} } } },
    service: { pipelines: { traces: pipeline, logs: pipeline } },
    ...given,
  }
  writeFileSync(path, JSON.stringify(whole))
  return checkWith(COLLECTOR, ['validate', '--config', path], {
    of,
    env: { ...process.env, WEIR_API_KEY: 'key' },
  })
}

/** Variables of Weir, or of docker-compose.yml. The shell completes the text if it has parts for that. */
function checkVariables({ of, dir, text }: Block): Report {
  const whole = text.startsWith('cat <<')
    ? execFileSync('bash', ['-c', text], { encoding: 'utf8', cwd: dir })
    : text
  const lines = whole.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)))
  const known = `${readFileSync(join(ROOT, '.env.example'), 'utf8')}\n`
  const unknown = Object.keys(env).filter((name) => !new RegExp(`^(# )?${name}=`, 'm').test(known))
  if (unknown.length > 0) return problem(of, `no setting: ${unknown.join(', ')}`)
  readConfig(env)
  return NOTHING
}

function checkJson({ text }: Block): Report {
  JSON.parse(text)
  return NOTHING
}

/** A workflow of GitHub: YAML in which each step of each job uses an action or runs commands of bash. */
function checkWorkflow({ of, path, text }: Block): Report {
  const { on, jobs } = parse(text) as { on?: unknown; jobs: Record<string, { steps?: WorkflowStep[] }> }
  if (on === undefined) return problem(of, 'the workflow has no "on"')
  const reports = Object.entries(jobs).flatMap(([name, { steps = [] }]) => {
    if (steps.length === 0) return [problem(of, `job ${name} has no steps`)]
    return steps.map(({ uses, run }, n) => {
      if ((uses === undefined) === (run === undefined))
        return problem(of, `step ${n + 1} of job ${name} needs either "uses" or "run"`)
      if (run === undefined) return NOTHING
      writeFileSync(`${path}.sh`, run)
      return checkWith(BASH, ['-n', `${path}.sh`], { of })
    })
  })
  return {
    problems: reports.flatMap(({ problems }) => problems),
    skipped: reports.flatMap(({ skipped }) => skipped),
  }
}

interface WorkflowStep {
  uses?: string
  run?: string
}

/** The server's own parser reads set-ups. */
function checkSetup({ text }: Block): Report {
  parseSetup(text, createRegistry())
  return NOTHING
}

/** Checks of YAML by a key that only this kind of configuration has. */
const YAML: Record<string, Check> = {
  groups: ({ of, path }) => checkWith(PROMTOOL, ['check', 'rules', path], { of }),
  scrape_configs: ({ of, path }) => checkWith(PROMTOOL, ['check', 'config', '--syntax-only', path], { of }),
  exporters: checkCollector,
  receivers: checkCollector,
  jobs: checkWorkflow,
  workspaces: checkSetup,
  services: ({ of, path }) => loadCompose(path, [], of),
  // Values of the chart.
  image: ({ of, path }) => renderChart(of, ['--values', path]),
}

/** The check of a configuration; undefined if no program is known for it. */
function checkOf({ file, text }: Printed): Check | undefined {
  const ending = basename(file).split('.').at(-1) ?? ''
  if (ending === 'yaml' || ending === 'yml') {
    const key = Object.keys(parse(text) as object).find((name) => YAML[name] !== undefined)
    return key === undefined ? undefined : YAML[key]
  }
  if (ending === 'ini' || ending === 'service') return /^\[Unit\]$/m.test(text) ? checkUnit : undefined
  if (ending === 'cfg' || ending === 'haproxy') return ({ of, path }) => checkHaproxy(of, path)
  const checks: Record<string, Check> = {
    sh: ({ of, path }) => checkWith(BASH, ['-n', path], { of }),
    nginx: checkNginx,
    env: checkVariables,
    json: checkJson,
  }
  return checks[ending]
}

/** Has the program that reads such a configuration check it, in a new folder `dir`. */
export async function checkPrinted(printed: Printed, dir: string): Promise<Report> {
  const of = `${printed.at}: ${printed.file}`
  try {
    const check = checkOf(printed)
    if (check === undefined)
      return problem(of, 'no program is known that checks it (scripts/check/deploy/docs.ts)')
    mkdirSync(dir)
    const path = join(dir, basename(printed.file))
    writeFileSync(path, printed.text)
    return await check({ of, dir, path, text: printed.text })
  } catch (error) {
    return problem(of, error)
  }
}

/** Problems of every configuration that the pages print, each found by the program that reads it. */
export async function docsReport(): Promise<Report & { count: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-docs-'))
  try {
    const pages = globSync(PAGES, { cwd: ROOT, exclude: (path) => path.includes('node_modules') })
    const all = pages.flatMap((page) => printedIn(page, readFileSync(join(ROOT, page), 'utf8')))
    const reports = await Promise.all(all.map((printed, i) => checkPrinted(printed, join(dir, String(i)))))
    const files = HAPROXY_FILES.map((file) => checkHaproxy(file, join(ROOT, file)))
    return { ...together([...reports, ...files]), count: all.length }
  } finally {
    rmSync(dir, { recursive: true })
  }
}
