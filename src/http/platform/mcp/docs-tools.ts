import { readdir, readFile } from 'node:fs/promises'
import { ToolFailure } from './arguments.ts'
import { cutText, fitLines, TOKENS_ARGUMENT } from './budget.ts'
import { type ReadTool, readTool } from './tool.ts'

/** The pages of this version; in the package they are at the same place. */
const DOCS = new URL('../../../../docs/', import.meta.url)
const FOLDERS = ['', 'using/', 'graphs/', 'operating/', 'protocol/', 'api/'] as const

/** A part of a page: its heading, and the lines up to the next heading. */
interface Section {
  page: string
  heading: string
  lines: string[]
}

/** Tools that search and read the documentation. The pages are read by the first call and kept: less than 1 MB. */
export function docsTools(): ReadTool[] {
  let pages: Promise<Section[]> | undefined
  const sections = async (): Promise<Section[]> => await (pages ??= readPages())
  return [searchDocs(sections), readDoc(sections)]
}

async function readPages(): Promise<Section[]> {
  const files = await Promise.all(
    FOLDERS.map(async (folder) => (await readdir(new URL(folder, DOCS))).map((file) => `${folder}${file}`)),
  )
  const names = files.flat().filter((file) => file.endsWith('.md'))
  const texts = await Promise.all(names.map(async (name) => await readFile(new URL(name, DOCS), 'utf8')))
  return texts.flatMap((text, i) => sectionsOf(names[i]!.replace(/\.md$/, ''), text))
}

function sectionsOf(page: string, text: string): Section[] {
  const sections: Section[] = []
  let isCode = false
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const [, heading] = (!isCode && /^#{1,4} (.*)$/.exec(line)) || []
    if (heading !== undefined) sections.push({ page, heading, lines: [line] })
    else sections.at(-1)?.lines.push(line)
  }
  return sections
}

const FOUND = 8
const SHOWN_CHARS = 240

function searchDocs(sections: () => Promise<Section[]>): ReadTool {
  return readTool(
    'search_docs',
    [],
    "Find pages of this server's documentation, which fits its version.",
    { query: { type: 'text', required: true, description: 'Words.' } },
    async (args) => {
      const words =
        args
          .required('query')
          .toLowerCase()
          .match(/[\w.-]+/g) ?? []
      const scored = (await sections()).map((section) => ({ section, score: scoreOf(section, words) }))
      const best = scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score)
      if (best.length === 0) return 'No page has these words. read_doc with page "README" lists all pages.'
      const lines = best.slice(0, FOUND).map(({ section: { page, heading, lines } }) => {
        const line = lines.slice(1).find((one) => words.some((word) => one.toLowerCase().includes(word)))
        return `${page} › ${heading}: ${(line ?? '').slice(0, SHOWN_CHARS)}`
      })
      return [...lines, 'read_doc reads a page or a section.'].join('\n')
    },
  )
}

/** How well a section fits: each word counts once, in a heading five times. */
function scoreOf({ heading, lines, page }: Section, words: readonly string[]): number {
  const text = lines.join('\n').toLowerCase()
  const head = `${page} ${heading}`.toLowerCase()
  const found = words.filter((word) => text.includes(word) || head.includes(word))
  const inHead = words.filter((word) => head.includes(word))
  return found.length === 0 ? 0 : found.length ** 2 + 5 * inHead.length
}

/** The sections with this heading, or else those whose heading contains it. `wanted` is in lower case. */
function sectionsNamed(sections: readonly Section[], wanted: string): Section[] {
  const exact = sections.filter(({ heading }) => heading.toLowerCase() === wanted)
  return exact.length > 0 ? exact : sections.filter(({ heading }) => heading.toLowerCase().includes(wanted))
}

/** Room for the last line of a page that is cut, and for the headings in it. */
const FRAME_TOKENS = 160
const HEADING_CHARS = 400

function readDoc(sections: () => Promise<Section[]>): ReadTool {
  return readTool(
    'read_doc',
    [],
    'Read a page of the documentation, or one section of it.',
    {
      page: { type: 'text', required: true, description: 'As search_docs names it, e.g. using/costs.' },
      section: { type: 'text', description: 'Heading of the section.' },
      max_tokens: TOKENS_ARGUMENT,
    },
    async (args, { count }) => {
      const page = args.required('page').replace(/^docs\/|\.md$/g, '')
      const all = await sections()
      const ofPage = all.filter((section) => section.page === page)
      if (ofPage.length === 0)
        throw new ToolFailure(
          `There is no page "${page.slice(0, 100)}". Pages: ${[...new Set(all.map((one) => one.page))].join(', ')}.`,
        )
      const wanted = args.text('section')?.toLowerCase()
      const chosen = wanted === undefined ? ofPage : sectionsNamed(ofPage, wanted)
      const headings = cutText(ofPage.map(({ heading }) => heading).join(' · '), HEADING_CHARS)
      if (chosen.length === 0)
        throw new ToolFailure(`The page has no section "${String(wanted)}". Sections: ${headings}.`)
      const lines = chosen.flatMap((section) => section.lines)
      const { text, shown } = fitLines(lines, args.integer('max_tokens') - FRAME_TOKENS, count)
      return shown === lines.length
        ? text
        : `${text}\n… (+${lines.length - shown} lines; a larger max_tokens shows more). Sections: ${headings}`
    },
  )
}
