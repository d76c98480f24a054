import { spawn } from 'node:child_process'

/** The program that opens a link in the user's browser, with its arguments. */
export function browserCommand(platform: NodeJS.Platform, url: string): [program: string, args: string[]] {
  if (platform === 'darwin') return ['open', [url]]
  // Without a title, `start` reads a quoted address as the title.
  if (platform === 'win32') return ['cmd', ['/c', 'start', '""', url]]
  return ['xdg-open', [url]]
}

/** Opens the browser, if the machine has a program for this. The link is printed in any case. */
export function openBrowser(url: string): void {
  const [program, args] = browserCommand(process.platform, url)
  const child = spawn(program, args, { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
