/** Removes the argument that begins with `flag` from the command line, and returns the rest of it. */
export function takeFlag(argv: string[], flag: string): string | undefined {
  const place = argv.findIndex((argument) => argument.startsWith(flag))
  if (place < 0) return undefined
  const [argument = ''] = argv.splice(place, 1)
  return argument.slice(flag.length)
}
