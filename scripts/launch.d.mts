export interface LockFile {
  packages: Record<string, { version?: string; optional?: boolean; dev?: boolean }>
}
export function staleReason(lock: LockFile | undefined, installed: LockFile | undefined): string | undefined
export function launch(
  script: string,
  args: readonly string[],
  options?: { install?: boolean },
): Promise<void>
