const REVISION_WORDS: Readonly<Record<string, string>> = {
  CREATING: 'being created',
  QUEUED: 'waits for another revision',
  AWAITING_BUILD: 'waits for its build',
  BUILDING: 'being built',
  AWAITING_DEPLOY: 'waits to be deployed',
  DEPLOYING: 'being deployed',
  DEPLOYED: 'replaced',
  CREATE_FAILED: 'was not created',
  BUILD_FAILED: 'build failed',
  DEPLOY_FAILED: 'deploy failed',
  SKIPPED: 'skipped for a newer one',
  INTERRUPTED: 'stopped',
}

/** The state of a revision that does not serve. */
export function revisionWord(status: string): string {
  return REVISION_WORDS[status] ?? status
}

/** Whether a revision has failed for good. */
export function hasFailed(status: string): boolean {
  return status.endsWith('_FAILED')
}
