/** Flags of every command that calls a server, for `parseArgs`. */
export const API_FLAGS = {
  url: { type: 'string' },
  key: { type: 'string' },
  tenant: { type: 'string' },
} as const

export const API_HELP = `  --url URL        the server (default: WEIR_URL, else this machine at PORT, else the one that runs on DATA_DIR)
  --key KEY        an API key (default: WEIR_API_KEY, else on this machine the one in DATA_DIR/api-key)
  --tenant ID      the workspace to act in, for a key that serves several and has no default`

export const DEPLOYMENT_FLAGS = { url: { type: 'string' }, key: { type: 'string' } } as const

export const DEPLOYMENT_HELP = `  --url URL        the deployment (default: WEIR_DEPLOYMENT_URL, else this machine at DEPLOYMENT_PORT, else that of the
                   server that runs on DATA_DIR)
  --key KEY        an API key (default: WEIR_API_KEY, else on this machine the one in DATA_DIR/api-key)`
