import { join } from 'node:path'

/** The variables that package managers need, which contain no secrets; builds get no others of the server (P-18). */
const BUILD_VARIABLES = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'SystemRoot'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['npm_config_registry', 'NPM_CONFIG_REGISTRY'],
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_FIND_LINKS', 'PIP_CERT', 'PIP_TRUSTED_HOST'],
  ...['UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_NATIVE_TLS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
]

/** The environment of a build: what package managers need of the server's, and their caches in the folder `cache`. */
export function buildEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  cache: string,
): Record<string, string> {
  const passed = BUILD_VARIABLES.flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(passed),
    npm_config_cache: cache,
    npm_config_update_notifier: 'false',
    PIP_CACHE_DIR: join(cache, 'pip'),
    UV_CACHE_DIR: join(cache, 'uv'),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    PIP_PROGRESS_BAR: 'off',
    UV_NO_PROGRESS: '1',
  }
}
