import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { AppError } from '../../base/errors.ts'
import { readBoundedFile, UnsuitableFileError } from '../../base/files/bounded-file.ts'
import { MAX_CONFIG_BYTES } from '../../base/files/langgraph-json.ts'
import { isObject } from '../../schema/json.ts'

/** The variables of `env` of langgraph.json. */
export interface ProjectEnv {
  env: Record<string, string>
  /** A sentence about the `.env` file that is named and does not exist; null if there is nothing to say. */
  missing: string | null
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads `env` of a langgraph.json: a path, a list of names whose values are in `environment`, or a map. A fresh copy of a
 * project often lacks its `.env`, which is then empty. @throws AppError config_invalid
 */
export async function readProjectEnv(
  env: unknown,
  file: string,
  environment: Environment,
): Promise<ProjectEnv> {
  if (env === undefined || env === null) return { env: {}, missing: null }
  if (typeof env === 'string') return await readEnvFile(resolve(dirname(file), env), file, environment)
  if (Array.isArray(env)) {
    const missing = env.filter((name) => environment[String(name)] === undefined)
    if (missing.length > 0)
      throw invalid(`${file}: the environment lacks ${missing.join(', ')}, named under "env".`)
    const found = env.map((name) => [String(name), environment[String(name)] ?? ''])
    return { env: Object.fromEntries(found) as Record<string, string>, missing: null }
  }
  if (isObject(env)) {
    const found = Object.entries(env).map(([name, value]) => [name, String(value)])
    return { env: Object.fromEntries(found) as Record<string, string>, missing: null }
  }
  throw invalid(`${file}: "env" must be a path, a list of names, or a map.`)
}

async function readEnvFile(path: string, file: string, environment: Environment): Promise<ProjectEnv> {
  let content: string
  try {
    content = String(await readBoundedFile(path, { max_bytes: MAX_CONFIG_BYTES }))
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code !== 'ENOENT') {
      const reason = cause instanceof UnsuitableFileError ? `: it ${cause.message}` : ''
      throw invalid(`${path}, which ${file} names under "env", cannot be read${reason}.`, cause)
    }
    const example = join(dirname(path), '.env.example')
    const advice = existsSync(example) ? ` Copy it and fill it in: cp ${example} ${path}` : ''
    return {
      env: {},
      missing: `There is no ${path}, which ${file} names under "env", so it gives the graphs no variables.${advice}`,
    }
  }
  return { env: parseProjectEnv(content, environment), missing: null }
}

/** The variables of an env file. References in it are to earlier variables, and to those of `environment`. */
export function parseProjectEnv(content: string, environment: Environment): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value = ''] of Object.entries(parseEnv(content)))
    env[name] = value.replace(REFERENCE, (_, other: string, fallback = '') =>
      String(env[other] ?? environment[other] ?? fallback),
    )
  return env
}

/** `${NAME}` and `${NAME:-default}`: an earlier variable of the file, or one of the environment. */
const REFERENCE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g

function invalid(message: string, cause?: unknown): AppError {
  return new AppError('config_invalid', { message, cause })
}
