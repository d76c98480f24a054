import { expect, it } from 'vitest'
import { printedIn } from './printed.ts'

it('finds blocks of known languages, and the files that commands write', () => {
  const page = `# Page

\`\`\`yaml
groups: []
\`\`\`

  \`\`\`sh
  cat > a.cfg <<'END'
  $x
  END
  cat >> .env <<END
  KEY=$(date)
  END
  \`\`\`

\`\`\`ts
const x = 1
\`\`\`
`
  expect(printedIn('page.md', page)).toEqual([
    { at: 'page.md:3', file: 'block.yaml', text: 'groups: []\n' },
    { at: 'page.md:7', file: 'block.sh', text: expect.stringContaining('cat > a.cfg') as string },
    { at: 'page.md:7', file: 'a.cfg', text: '$x\n' },
    { at: 'page.md:7', file: '.env', text: 'cat <<END\nKEY=$(date)\nEND' },
  ])
})
