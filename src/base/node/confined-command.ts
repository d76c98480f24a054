import type { Duplex } from 'node:stream'

/**
 * The command line argument with the path of the socket that connects the program with the server, instead of
 * descriptor 3.
 */
export const CHANNEL_FLAG = '--channel='

/** A program to start. */
export interface ProcessCommand {
  file: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  /** Sockets that the program connects to, and folders with such sockets; all outside of the deployment. */
  reach: readonly string[]
  /** Folders in which the program makes sockets, outside of the deployment. */
  socketFolders: readonly string[]
  /** Whether the program exchanges frames with the server over descriptor 3. */
  hasChannel: boolean
}

/** A program in a container, whose process is not a child of the command that started it. */
export interface ContainedProcess {
  /** Process id outside of the container; undefined while the program starts. */
  pid(): number | undefined
  signal(name: NodeJS.Signals): void
  /** Ends the program, even while it starts. */
  kill(): void
  /**
   * Removes the files of an ended container. `signal`: the signal that ended it, if any. Resolves with true if the
   * container had exceeded its memory.
   */
  remove(signal?: NodeJS.Signals | null): Promise<boolean>
}

/** A user of the operating system, without further groups. */
export interface ProcessUser {
  uid: number
  gid: number
}

export interface ConfinedCommand extends ProcessCommand {
  container?: ContainedProcess
  /** The server's end of the channel, if the program has no descriptor 3. */
  channel?: Duplex
  /**
   * The user that runs the program itself. Default: the server's user runs another program, which isolates this one.
   */
  user?: ProcessUser
  /** Called with the pid when the program has started; returns a function that is called when the program has ended. */
  started?: (pid: number) => () => Promise<void>
}

/** Converts a command to one that runs it in isolation (P-23). */
export type Confine = (command: ProcessCommand) => ConfinedCommand
