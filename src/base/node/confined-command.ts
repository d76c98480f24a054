/** A program to be started. */
export interface ProcessCommand {
  file: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  /** Sockets, and folders with sockets, outside of the deployment that it uses. */
  reach: readonly string[]
}

/** The command that runs another one in isolation (P-23). */
export type Confine = (command: ProcessCommand) => ProcessCommand
