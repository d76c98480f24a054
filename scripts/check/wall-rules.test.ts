import { describe, expect, it } from 'vitest'
import { type Cruise, roomDiagram, unseenFiles, withDiagram } from './wall-rules.ts'

function cruise(edges: readonly [from: string, to: string, type: string][]): Cruise {
  const modules = edges.map(([source, resolved, type]) => ({
    source,
    dependencies: [{ resolved, dependencyTypes: ['local', type] }],
  }))
  return { modules, summary: { violations: [] } }
}

describe('roomDiagram', () => {
  it('draws a solid arrow for an import of a value, a dotted one for imports of types only', () => {
    const diagram = roomDiagram(
      cruise([
        ['src/storage/a.ts', 'src/trace/b.ts', 'type-only'],
        ['src/http/a.ts', 'src/trace/b.ts', 'type-only'],
        ['src/http/c.ts', 'src/trace/d.ts', 'import'],
        ['processors/x.ts', 'src/schema/y.ts', 'import'],
        ['src/trace/b.ts', 'src/trace/d.ts', 'import'],
        ['src/start/server.ts', 'src/http/a.ts', 'import'],
      ]),
    )
    expect(diagram.split('\n')).toEqual([
      '```mermaid',
      'graph LR',
      '  http --> trace',
      '  processors --> schema',
      '  storage -.-> trace',
      '```',
    ])
  })
})

describe('withDiagram', () => {
  it('replaces the diagram of a page, and nothing else', () => {
    const page = (diagram: string) => `# Rooms\n<!-- rooms -->\n${diagram}\n<!-- /rooms -->\nText.\n`
    const edges = cruise([['src/http/c.ts', 'src/trace/d.ts', 'import']])
    expect(withDiagram(page('old'), edges)).toBe(page(roomDiagram(edges)))
  })
})

describe('unseenFiles', () => {
  it('lists source files that the tool has not read', () => {
    expect(unseenFiles(cruise([]))).toContain('src/base/errors.ts')
    const seen = cruise([['src/base/errors.ts', 'src/base/log.ts', 'import']])
    expect(unseenFiles(seen)).not.toContain('src/base/errors.ts')
  })
})
