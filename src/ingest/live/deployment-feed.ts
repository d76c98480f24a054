/** Notifies the listeners of this server when deployments change, here or on another server of the same database. */
export interface DeploymentFeed {
  /** Must be called when a deployment or a revision of any workspace has changed. */
  publish(): void
  /** Adds a listener; the returned function removes it. */
  listen(changed: () => void): () => void
}

export function createDeploymentFeed(): DeploymentFeed {
  const listeners = new Set<() => void>()
  return {
    publish() {
      for (const listener of listeners) listener()
    },
    listen(changed) {
      listeners.add(changed)
      return () => void listeners.delete(changed)
    },
  }
}
