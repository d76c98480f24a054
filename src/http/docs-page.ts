import { isObject, type JsonObject } from '../schema/json.ts'

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2rem } details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0 }
summary { cursor: pointer; padding: .4rem .7rem } summary:hover { background: var(--soft) }
details > div { padding: 0 .9rem .6rem } b.method { display: inline-block; width: 4.2rem }
code, pre { font-family: ui-monospace, monospace; font-size: 13px } pre { overflow-x: auto; background: var(--soft); padding: .6rem }
td, th { text-align: left; vertical-align: top; padding: .15rem .8rem .15rem 0 }
`

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: unknown): string {
  return String(text ?? '').replace(/[&<>"]/g, (mark) => ESCAPES[mark] ?? mark)
}

function objects(value: unknown): [string, JsonObject][] {
  return Object.entries(isObject(value) ? value : {}).filter((entry): entry is [string, JsonObject] =>
    isObject(entry[1]),
  )
}

function list(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Links to the schemas of a body or an answer, by content type. */
function contentText(holder: JsonObject): string {
  return objects(holder['content'])
    .map(([type, { schema }]) => {
      const ref = isObject(schema) ? schema['$ref'] : undefined
      const name = typeof ref === 'string' ? (ref.split('/').at(-1) ?? '') : ''
      const link = name === '' ? '' : ` <a href="#schema-${escaped(name)}">${escaped(name)}</a>`
      return `<code>${escaped(type)}</code>${link}`
    })
    .join(', ')
}

function rows(cells: string[][]): string {
  return `<table>${cells.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`
}

function operationHtml(path: string, method: string, operation: JsonObject): string {
  const parameters = list(operation['parameters']).map((parameter) => [
    `<code>${escaped(parameter['name'])}</code>`,
    escaped(parameter['in']),
    `<code>${escaped(JSON.stringify(parameter['schema']))}</code>`,
    escaped(parameter['description']),
  ])
  const body = isObject(operation['requestBody'])
    ? `<p>Body: ${contentText(operation['requestBody'])}</p>`
    : ''
  const answers = objects(operation['responses']).map(([status, answer]) => [
    `<code>${escaped(status)}</code>`,
    escaped(answer['description']),
    contentText(answer),
  ])
  const head = `<b class="method">${escaped(method.toUpperCase())}</b> <code>${escaped(path)}</code> ${escaped(operation['summary'])}`
  const about = operation['description'] === undefined ? '' : `<p>${escaped(operation['description'])}</p>`
  return `<details><summary>${head}</summary><div>${about}${rows(parameters)}${body}${rows(answers)}</div></details>`
}

function tagHtml(name: string, paths: unknown): string {
  const operations = objects(paths).flatMap(([path, methods]) =>
    objects(methods)
      .filter(([, operation]) => Array.isArray(operation['tags']) && operation['tags'].includes(name))
      .map(([method, operation]) => operationHtml(path, method, operation)),
  )
  return `<h2>${escaped(name)}</h2>${operations.join('')}`
}

function schemaHtml(name: string, schema: JsonObject): string {
  const text = escaped(JSON.stringify(schema, undefined, 2))
  return `<details id="schema-${escaped(name)}"><summary><code>${escaped(name)}</code> ${escaped(schema['description'])}</summary><div><pre>${text}</pre></div></details>`
}

/** An OpenAPI document as one HTML page that loads nothing and runs nothing. */
export function docsPage(document: object): string {
  const { info, tags, paths, components } = document as JsonObject
  const { title, version, description } = isObject(info) ? info : {}
  const schemas = isObject(components) ? components['schemas'] : undefined
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><style>${STYLE}</style></head><body>
<h1>${escaped(title)} <small>${escaped(version)}</small></h1>
<p>${escaped(description)} Send the key as <code>x-api-key</code>. For machines: <a href="openapi.json">openapi.json</a>.</p>
${list(tags)
  .map(({ name }) => tagHtml(String(name), paths))
  .join('\n')}
<h2>Schemas</h2>
${objects(schemas)
  .map(([name, schema]) => schemaHtml(name, schema))
  .join('\n')}
</body></html>
`
}
