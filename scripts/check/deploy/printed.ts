/** A configuration that a page prints for another program. */
export interface Printed {
  /** The page and the line at which it begins. */
  at: string
  /** The name of a file for it, such as `haproxy.cfg`, or `block.yaml` if the page gives no name. */
  file: string
  text: string
}

const FENCED = /^( *)```(\w+)\n(.*?)^\1```$/gms
/** A here document of a shell that is written to a file. In quotes, the word at its end keeps the shell from changing it. */
const HERE = /^cat >>? ?(\S+) <<('?)(\w+)\2\n(.*?)^\3$/gms
/** Languages of blocks that are configurations or commands. */
const CHECKED = new Set(['sh', 'yaml', 'yml', 'json', 'nginx', 'haproxy', 'ini', 'toml', 'xml'])

/** The configurations of a page: its blocks, and the files that its commands write. Pure. */
export function printedIn(page: string, text: string): Printed[] {
  return [...text.matchAll(FENCED)].flatMap(({ index, 1: indent = '', 2: language = '', 3: block = '' }) => {
    if (!CHECKED.has(language)) return []
    const lines = block.split('\n').map((line) => line.slice(indent.length))
    const whole = lines.join('\n')
    const at = `${page}:${text.slice(0, index).split('\n').length}`
    const files = language === 'sh' ? [...whole.matchAll(HERE)] : []
    return [
      { at, file: `block.${language}`, text: whole },
      ...files.map(([command, file = '', quote, , content = '']) => ({
        at,
        file,
        text: quote === '' ? command.replace(/^cat.*<</, 'cat <<') : content,
      })),
    ]
  })
}
