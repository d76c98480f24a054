import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** As written by V8: the innermost range that contains a place has its count. */
interface ScriptCoverage {
  url: string
  functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[]
}

const COVERED = /^(?:src\/(?<room>[\w-]+)|(?<other>processors))\//
const NOT_COVERED = /\.test\.ts$|\.gen\.ts$/
const LEAST_COVERED = 10
/** Files with fewer lines of code are not listed as least covered. */
const MIN_LINES = 20

/** Whether each line of a file holds code; comments and empty lines hold none. */
function codeLines(text: string): boolean[] {
  let inComment = false
  return text.split('\n').map((line) => {
    const trimmed = line.trim()
    if (inComment) {
      inComment = !trimmed.includes('*/')
      return false
    }
    if (trimmed.startsWith('/*')) {
      inComment = !trimmed.includes('*/')
      return false
    }
    return trimmed !== '' && !trimmed.startsWith('//') && !/^[\])}>;,\s]+$/.test(trimmed)
  })
}

/** Offset of the first character that is no space, for each line. */
function lineOffsets(text: string): number[] {
  let offset = 0
  return text.split('\n').map((line) => {
    const start = offset + (line.length - line.trimStart().length)
    offset += line.length + 1
    return start
  })
}

/** Whether one process executed each line. */
export function executedLines(text: string, { functions }: Pick<ScriptCoverage, 'functions'>): boolean[] {
  const ranges = functions
    .flatMap((one) => one.ranges)
    .toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
  const open: typeof ranges = []
  let next = 0
  return lineOffsets(text).map((offset) => {
    for (let range = ranges[next]; range !== undefined && range.startOffset <= offset; range = ranges[++next])
      open.push(range)
    while (open.length > 0 && (open.at(-1)?.endOffset ?? 0) <= offset) open.pop()
    return (open.findLast(({ endOffset }) => endOffset > offset)?.count ?? 0) > 0
  })
}

interface FileCoverage {
  lines: number
  executed: number
}

/** The lines of each file of src and processors that the processes executed whose coverage is in `folder`. */
function readCoverage(root: string, folder: string): Map<string, FileCoverage> {
  const texts = new Map<string, string>()
  const executed = new Map<string, boolean[]>()
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: ScriptCoverage[] }
    for (const script of result) {
      if (!script.url.startsWith('file:')) continue
      const path = relative(root, fileURLToPath(script.url))
      if (!COVERED.test(path) || NOT_COVERED.test(path)) continue
      const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8')
      texts.set(path, text)
      const before = executed.get(path)
      executed.set(
        path,
        executedLines(text, script).map((now, line) => now || before?.[line] === true),
      )
    }
  }
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && COVERED.test(path) && !NOT_COVERED.test(path),
  )
  return new Map(
    paths.map((path) => {
      const isCode = codeLines(texts.get(path) ?? readFileSync(join(root, path), 'utf8'))
      const ran = executed.get(path)
      const lines = isCode.filter(Boolean).length
      return [path, { lines, executed: isCode.filter((is, line) => is && ran?.[line] === true).length }]
    }),
  )
}

/** Prints the part of each room's lines that ran, in the processes of the tests and their children, and the ten least covered files. */
export function printCoverage(root: string, folder: string): void {
  const files = readCoverage(root, folder)
  const rooms = Map.groupBy(files, ([path]) => {
    const { room, other } = COVERED.exec(path)?.groups ?? {}
    return room ?? other ?? ''
  })
  const share = ({ lines, executed }: FileCoverage): string =>
    `${((100 * executed) / Math.max(1, lines)).toFixed(0).padStart(3)} %  ${executed} of ${lines} lines`
  console.log('\ncoverage by room')
  for (const [room, inside] of [...rooms].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const sum = inside.reduce(
      (all, [, one]) => ({ lines: all.lines + one.lines, executed: all.executed + one.executed }),
      { lines: 0, executed: 0 },
    )
    console.log(`  ${room.padEnd(16)} ${share(sum)}`)
  }
  console.log('least covered files')
  const least = [...files]
    .filter(([, { lines }]) => lines >= MIN_LINES)
    .toSorted(([, a], [, b]) => a.executed / a.lines - b.executed / b.lines)
  for (const [path, one] of least.slice(0, LEAST_COVERED)) console.log(`  ${share(one)}  ${path}`)
}
