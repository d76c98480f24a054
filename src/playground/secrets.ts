import { AppError } from '../base/errors.ts'
import type { Sealer } from '../base/node/sealer.ts'

/** A secret of a workspace, without its value. */
export interface WorkspaceSecret {
  key: string
  /** The only hosts that receive the value, in lower case: `api.openai.com`, `127.0.0.1:11434`. */
  hosts: readonly string[]
  /** Epoch milliseconds. */
  created_at: number
  updated_at: number
}

/** A secret as stored: `sealed` is its encrypted value. */
export interface SealedWorkspaceSecret extends WorkspaceSecret {
  workspace_id: string
  sealed: string
}

export interface WorkspaceSecretStore {
  /** Lists the secrets of a workspace in the order of their names. */
  list(workspace_id: string): Promise<WorkspaceSecret[]>
  find(workspace_id: string, key: string): Promise<SealedWorkspaceSecret | undefined>
  /** Any stored secret. The start decrypts it to check SECRETS_KEY. */
  any(): Promise<SealedWorkspaceSecret | undefined>
  /**
   * Creates, replaces and deletes secrets in one transaction, all or none. Returns the outcome of each.
   * @throws AppError quota_reached when the workspace has too many
   */
  write(workspace_id: string, changes: readonly SealedChange[]): Promise<SecretOutcome[]>
}

/** A secret to store; with `sealed` null, one to delete. */
export interface SealedChange {
  key: string
  sealed: string | null
  hosts: readonly string[]
}

/** The result of a change of a secret; `none`: there was nothing to delete. */
export type SecretOutcome = 'created' | 'updated' | 'deleted' | 'none'

/** A secret to store for `hosts`; with the value null, one to delete. */
export interface SecretChange {
  key: string
  value: string | null
  /** Default: the stored hosts, or the usual hosts of a secret with this name. */
  hosts?: readonly string[] | null | undefined
}

/** Secrets for calls of model providers: encrypted, bound to hosts, and never returned to clients. */
export interface WorkspaceSecrets {
  list(workspace_id: string): Promise<WorkspaceSecret[]>
  /**
   * Stores and deletes secrets, all or none. Returns the outcome and the hosts of each. @throws AppError
   * invalid_request if no hosts are known, quota_reached
   */
  write(
    workspace_id: string,
    changes: readonly SecretChange[],
  ): Promise<{ key: string; outcome: SecretOutcome; hosts: readonly string[] }[]>
  /** The value for a call of `host`. @throws AppError secret_missing, host_not_allowed, secrets_unreadable */
  valueFor(workspace_id: string, key: string, host: string): Promise<string>
}

/** `usualHosts`: the hosts of secrets with usual names. */
export function createWorkspaceSecrets({
  store,
  sealer,
  usualHosts,
}: {
  store: WorkspaceSecretStore
  sealer(): Promise<Sealer>
  usualHosts: ReadonlyMap<string, readonly string[]>
}): WorkspaceSecrets {
  async function seal(
    workspace_id: string,
    { key, value, hosts: named }: SecretChange,
  ): Promise<SealedChange> {
    if (value === null) return { key, sealed: null, hosts: [] }
    const known = named ?? (await store.find(workspace_id, key))?.hosts ?? usualHosts.get(key)
    if (known === undefined || known.length === 0) throw hostsMissing(key)
    const hosts = [...new Set(known.map((host) => host.toLowerCase()))]
    return { key, sealed: (await sealer()).seal(workspacePlace(workspace_id, key), value), hosts }
  }

  return {
    list: (workspace_id) => store.list(workspace_id),
    async write(workspace_id, changes) {
      const sealed = await Promise.all(changes.map((change) => seal(workspace_id, change)))
      const outcomes = await store.write(workspace_id, sealed)
      return sealed.map(({ key, hosts }, place) => ({ key, hosts, outcome: outcomes[place] ?? 'none' }))
    },
    async valueFor(workspace_id, key, host) {
      const found = await store.find(workspace_id, key)
      if (found === undefined)
        throw new AppError('secret_missing', {
          message: `The workspace has no secret ${key}: set it for the host ${host}.`,
          details: { key, host },
        })
      if (!found.hosts.includes(host.toLowerCase()))
        throw new AppError('host_not_allowed', {
          message: `The secret ${key} is for ${found.hosts.join(', ')}, and not for ${host}.`,
          details: { key, host },
        })
      return openSecret(found, await sealer())
    },
  }
}

/** The value of a stored secret. @throws AppError secrets_unreadable */
export function openSecret({ workspace_id, key, sealed }: SealedWorkspaceSecret, sealer: Sealer): string {
  return sealer.open(workspacePlace(workspace_id, key), sealed)
}

/** The name by which the sealer distinguishes a workspace's secret from all others. */
export function workspacePlace(workspace_id: string, key: string): string {
  return `workspace/${workspace_id}/${key}`
}

function hostsMissing(key: string): AppError {
  const msg = `name the hosts that may receive ${key}, such as ["api.example.com"]`
  return new AppError('invalid_request', { details: [{ loc: ['body', 'hosts'], msg, type: 'missing' }] })
}
