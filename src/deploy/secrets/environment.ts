export interface Secret {
  name: string
  value: string
}

/** Names that a deployment cannot set, which `langgraph-cli` (deploy.py) removes from a project's `.env`. */
const RESERVED = new Set(
  `LANGCHAIN_TRACING_V2 LANGSMITH_TRACING_V2 LANGCHAIN_ENDPOINT LANGCHAIN_PROJECT LANGSMITH_PROJECT
   LANGSMITH_LANGGRAPH_GIT_REPO LANGGRAPH_GIT_REPO_PATH LANGCHAIN_API_KEY LANGSMITH_CONTROL_PLANE_API_KEY
   POSTGRES_URI POSTGRES_PASSWORD DATABASE_URI LANGSMITH_LANGGRAPH_GIT_REF LANGSMITH_LANGGRAPH_GIT_REF_SHA
   LANGGRAPH_AUTH_TYPE LANGSMITH_AUTH_ENDPOINT LANGSMITH_TENANT_ID LANGSMITH_AUTH_VERIFY_TENANT_ID
   LANGSMITH_HOST_PROJECT_ID LANGSMITH_HOST_PROJECT_NAME LANGSMITH_HOST_REVISION_ID LOG_JSON
   LOG_DICT_TRACEBACKS REDIS_URI LANGCHAIN_CALLBACKS_BACKGROUND DD_TRACE_PSYCOPG_ENABLED
   DD_TRACE_REDIS_ENABLED LANGSMITH_DEPLOYMENT_NAME LANGGRAPH_CLOUD_LICENSE_KEY LANGSMITH_API_KEY
   LANGSMITH_ENDPOINT POSTGRES_URI_CUSTOM REDIS_URI_CUSTOM PATH PORT MOUNT_PREFIX LSD_ENV LSD_DD_API_KEY
   LSD_DD_ENDPOINT LSD_DEPLOYMENT_TYPE NODE_OPTIONS NODE_PATH`.split(/\s+/),
)
const RESERVED_PREFIX = /^(WEIR_|LD_|DYLD_|PYTHON)/

/**
 * Whether no process may have this variable (P-18): it would change how the server runs its processes, or no process
 * can have it. A name with `=` would set the variable before the `=`, and NUL would end the text.
 */
function isLeftOut([name, value]: readonly [string, string]): boolean {
  return RESERVED.has(name) || RESERVED_PREFIX.test(name) || !isVariable({ name, value })
}

export function isVariable({ name, value }: Secret): boolean {
  return /^[^=\0]+$/.test(name) && !value.includes('\0')
}

/** The variables of a deployment's processes, and the names that were left out. */
export interface DeploymentEnvironment {
  env: Record<string, string>
  left_out: string[]
}

/** `env` of langgraph.json when it is a map, then the secrets, without variables that must not be set (P-18). */
export function deploymentEnvironment(
  ofFile: Readonly<Record<string, unknown>>,
  secrets: readonly Secret[],
): DeploymentEnvironment {
  const pairs = [
    ...Object.entries(ofFile).flatMap(([name, value]) =>
      typeof value === 'object' ? [] : [[name, String(value)] as const],
    ),
    ...secrets.map(({ name, value }) => [name, value] as const),
  ]
  const env = Object.fromEntries(pairs.filter((pair) => !isLeftOut(pair)))
  const left_out = [...new Set(pairs.filter(isLeftOut).map(([name]) => name))]
  return { env, left_out }
}
