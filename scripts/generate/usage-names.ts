import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

// Writes test/golden/usage-names.json: the paths of all numbers in the usage types of vendors' SDKs. `folder` has one
// folder for each package, with its .d.ts files, named as `npm pack` names the archive:
//   npm pack openai@… && mkdir openai-… && tar xzf openai-….tgz -C openai-…
//   node scripts/launch.mjs scripts/generate/usage-names.ts <folder>
const OUT = new URL('../../test/golden/usage-names.json', import.meta.url)
const MAX_DEPTH = 5

/** The types of usage objects in each package. */
const ROOTS: Readonly<Record<string, readonly string[]>> = {
  openai: [
    'CompletionUsage',
    'ResponseUsage',
    'RealtimeResponseUsage',
    'TranscriptTextUsageTokens',
    'TranscriptTextUsageDuration',
    'BatchUsage',
  ],
  'anthropic-ai-sdk': ['Usage', 'MessageDeltaUsage', 'BetaUsage', 'BetaMessageDeltaUsage'],
  'google-genai': ['GenerateContentResponseUsageMetadata', 'UsageMetadata', 'Usage'],
  'aws-sdk-client-bedrock-runtime': ['TokenUsage'],
  'mistralai-mistralai': ['UsageInfo', 'ConversationUsageInfo', 'OCRUsageInfo'],
  'cohere-ai': ['Usage'],
  'groq-sdk': ['CompletionUsage'],
  'openrouter-sdk': ['ChatUsage', 'Usage', 'STTUsage', 'ImageGenerationUsage'],
  'perplexity-ai-perplexity_ai': ['UsageInfo', 'ResponsesUsage', 'EmbeddingsUsage'],
  'writer-sdk': ['ChatCompletionUsage'],
}
/** Files whose usage is that of an organisation or of another product. */
const OTHERS = /organization|admin|analytics|managed|sessions|dreams|fine-tuning|operations\/|tunings/i

type Declared = ts.InterfaceDeclaration | ts.ClassDeclaration | ts.TypeAliasDeclaration

function declarationsOf(folder: string): Map<string, Declared[]> {
  const found = new Map<string, Declared[]>()
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    if (OTHERS.test(file)) continue
    const source = ts.createSourceFile(file, readFileSync(join(folder, file), 'utf8'), ts.ScriptTarget.Latest)
    const visit = (node: ts.Node): void => {
      if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
        const name = node.name?.text ?? ''
        found.set(name, [...(found.get(name) ?? []), node])
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return found
}

function addMembers(
  paths: Set<string>,
  members: readonly (ts.TypeElement | ts.ClassElement)[],
  prefix: string,
  declared: Map<string, Declared[]>,
  depth: number,
): void {
  for (const member of members) {
    if (!(ts.isPropertySignature(member) || ts.isPropertyDeclaration(member))) continue
    if (member.type === undefined) continue
    const name = ts.isIdentifier(member.name) || ts.isStringLiteral(member.name) ? member.name.text : ''
    if (name !== '') addType(paths, member.type, prefix === '' ? name : `${prefix}.${name}`, declared, depth)
  }
}

function addType(
  paths: Set<string>,
  type: ts.TypeNode,
  path: string,
  declared: Map<string, Declared[]>,
  depth: number,
): void {
  if (depth > MAX_DEPTH) return
  if (type.kind === ts.SyntaxKind.NumberKeyword) paths.add(path)
  else if (ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type))
    for (const part of type.types) addType(paths, part, path, declared, depth)
  else if (ts.isArrayTypeNode(type)) addType(paths, type.elementType, `${path}[]`, declared, depth)
  else if (ts.isTypeLiteralNode(type)) addMembers(paths, type.members, path, declared, depth + 1)
  else if (ts.isParenthesizedTypeNode(type)) addType(paths, type.type, path, declared, depth)
  else if (ts.isTypeReferenceNode(type)) {
    const { typeName, typeArguments = [] } = type
    const name = ts.isIdentifier(typeName) ? typeName.text : typeName.right.text
    if (name === 'Array') addType(paths, typeArguments[0]!, `${path}[]`, declared, depth)
    else for (const one of declared.get(name) ?? []) addDeclared(paths, one, path, declared, depth + 1)
  }
}

function addDeclared(
  paths: Set<string>,
  one: Declared,
  path: string,
  declared: Map<string, Declared[]>,
  depth: number,
): void {
  if (!ts.isTypeAliasDeclaration(one)) addMembers(paths, one.members, path, declared, depth)
  else addType(paths, one.type, path, declared, depth)
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: usage-names.ts <folder of packages>')
const names = globSync('*', { cwd: folder })
  .toSorted()
  .flatMap((name) => {
    const [, packageName = '', version = ''] = /^(.+)-(\d+\.\d+\.\d+)$/.exec(name) ?? []
    const declared = declarationsOf(join(folder, name))
    return (ROOTS[packageName] ?? []).map((type) => {
      const paths = new Set<string>()
      for (const one of declared.get(type) ?? []) addDeclared(paths, one, '', declared, 0)
      if (paths.size === 0) throw new Error(`${packageName}@${version} has no numbers in ${type}`)
      return { package: `${packageName}@${version}`, type, paths: [...paths].toSorted() }
    })
  })
writeFileSync(OUT, `[\n${names.map((it) => JSON.stringify(it)).join(',\n')}\n]\n`)
