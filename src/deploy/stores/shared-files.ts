/** Sources and builds that all servers of one database can read (P-37). `path` is relative to DATA_DIR/deployments. */
export interface SharedFiles {
  has(deployment_id: string, path: string): Promise<boolean>
  /** Stores the file, unless the path is taken. `made_in`: the folder of a build; empty for a source. */
  put(deployment_id: string, path: string, file: string, made_in: string): Promise<void>
  /**
   * Copies the stored file to `file`. Returns undefined if nothing is stored at this path, or some bytes are missing;
   * such a file counts as not stored from now on, so that it can be put again. @throws AppError deployment_failed when
   * it has more than `max_bytes`
   */
  get(
    deployment_id: string,
    path: string,
    file: string,
    max_bytes?: number,
  ): Promise<{ made_in: string } | undefined>
  /** Removes all files of the deployment that were stored before the time `before`, except those in `kept`. */
  prune(deployment_id: string, kept: ReadonlySet<string>, before: number): Promise<void>
  /**
   * Removes files of deployments that no longer exist, if they were stored before the time `before`. Also removes bytes
   * that belong to no file: they are left when a server ends, or the store fails, while a file is put or removed.
   */
  sweep(before: number): Promise<void>
}

/** Notifications of changed deployments and revisions among the servers of one database. */
export interface DeploymentChanges {
  announce(): void
  /** `changed` is called when another server has announced a change, and when announcements may have been missed. */
  listen(changed: () => void): void
  close(): Promise<void>
}
