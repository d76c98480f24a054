import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Environment, type PortSetting, readConfig } from '../../config.ts'

/** Settings of commands that call a server; undefined if the environment has none. */
export interface ClientSettings {
  /** WEIR_URL: the platform API. */
  url: string | undefined
  /** WEIR_DEPLOYMENT_URL: the deployment API. */
  deploymentUrl: string | undefined
  /** PORT and DEPLOYMENT_PORT as text; undefined for 0. */
  port: string | undefined
  deploymentPort: string | undefined
  apiKey: string | undefined
  /** DATA_DIR or its default. */
  dataDir: string
  /** The file of the tokens of `weir login`. */
  loginsFile: string
}

/** Reads the settings of commands; never throws. */
export function readClientSettings(env: Environment = process.env): ClientSettings {
  const named = (name: string): string | undefined => env[name]?.trim() || undefined
  const port = (name: PortSetting): string | undefined => (named(name) === '0' ? undefined : named(name))
  return {
    url: named('WEIR_URL'),
    deploymentUrl: named('WEIR_DEPLOYMENT_URL'),
    port: port('PORT'),
    deploymentPort: port('DEPLOYMENT_PORT'),
    apiKey: named('WEIR_API_KEY'),
    dataDir: named('DATA_DIR') ?? readConfig({}).dataDir,
    loginsFile: join(named('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'weir', 'logins.json'),
  }
}

/** The variables of this machine, to which the keys of a set-up may refer. */
export function setupVariables(env: Environment = process.env): Environment {
  return env
}

/** Settings of `weir deploy`, which also uses the settings of LangSmith's clients. */
export interface DeploySettings {
  /** WEIR_URL, otherwise LANGSMITH_ENDPOINT, with the name of the variable. */
  url: { name: string; value: string } | undefined
  /** The first key that is set, with the name of its variable. */
  key: { name: string; value: string } | undefined
  /** LANGSMITH_DEPLOYMENT_NAME. */
  name: string | undefined
}

/** Variables that may have a key of the server, in order of precedence (P-14). */
export const KEY_VARIABLES = [
  'WEIR_API_KEY',
  'LANGGRAPH_HOST_API_KEY',
  'LANGSMITH_API_KEY',
  'LANGCHAIN_API_KEY',
] as const

const URL_VARIABLES = ['WEIR_URL', 'LANGSMITH_ENDPOINT'] as const

/** Reads the settings of `weir deploy` from the environment, then from the project's `.env`. */
export function readDeploySettings(dotEnv: Environment, env: Environment = process.env): DeploySettings {
  const named = (name: string): string | undefined => env[name]?.trim() || dotEnv[name]?.trim() || undefined
  const keys = [env, dotEnv].flatMap((from) =>
    KEY_VARIABLES.flatMap((name) => {
      const value = from[name]?.trim() ?? ''
      return value === '' ? [] : [{ name, value }]
    }),
  )
  return {
    url: URL_VARIABLES.flatMap((name) => {
      const value = named(name)
      return value === undefined ? [] : [{ name, value }]
    })[0],
    key: keys[0],
    name: named('LANGSMITH_DEPLOYMENT_NAME'),
  }
}
