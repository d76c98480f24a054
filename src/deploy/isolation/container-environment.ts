type Environment = Readonly<Record<string, string | undefined>>

/** Variables of the server that the runtime's own command needs. */
const OF_CLIENT = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'],
  ...['DBUS_SESSION_BUS_ADDRESS', 'DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'CONTAINER_HOST'],
  ...['CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF'],
]
/** Variables that would change the runtime's command: NAMES, and names that begin with one of PREFIXES. */
const NAMES = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'LANG', 'LANGUAGE', 'NOTIFY_SOCKET'],
  ...[
    'STORAGE_DRIVER',
    'STORAGE_OPTS',
    'REGISTRY_AUTH_FILE',
    'DOCKER_HOST',
    'DOCKER_CONTEXT',
    'DOCKER_CONFIG',
  ],
  ...['DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY', 'DOCKER_API_VERSION'],
  ...['GODEBUG', 'GOGC', 'GOMAXPROCS', 'GOMEMLIMIT', 'GOTRACEBACK', 'GORACE'],
])
const PREFIXES = /^(?:LC_|LD_|SSL_CERT_|XDG_|DBUS_|CONTAINERS?_|_CONTAINERS_|PODMAN_|BUILDAH_|LISTEN_)/

function isReadByClient(name: string): boolean {
  return NAMES.has(name) || PREFIXES.test(name)
}

/** The environment of the runtime's own command. */
export function clientEnvironment(server: Environment): Record<string, string> {
  return Object.fromEntries(
    OF_CLIENT.flatMap((name) => {
      const value = server[name]
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}

/**
 * Returns the flags that give a container the variables `wanted`, and the environment of the command with these flags.
 * Values are passed in the environment of the command, because every user of the machine can read arguments. Only
 * variables that would change the command itself are in the flags with their values.
 */
export function environmentFlags(
  wanted: Readonly<Record<string, string>>,
  server: Environment,
): { flags: string[]; env: Record<string, string> } {
  const all = Object.entries(wanted)
  const passed = all.filter(([name]) => !isReadByClient(name))
  return {
    flags: all.flatMap(([name, value]) => ['--env', isReadByClient(name) ? `${name}=${value}` : name]),
    env: { ...Object.fromEntries(passed), ...clientEnvironment(server) },
  }
}
