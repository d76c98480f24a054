import { expect, it } from 'vitest'
import { MAX_FIELD_BYTES, queryForm } from './query-form.ts'

/** The fields of a form, in their order. */
async function fieldsOf({ type, body }: ReturnType<typeof queryForm>): Promise<[string, unknown][]> {
  const form = await new Response(body, { headers: { 'content-type': type } }).formData()
  return [...form]
}

it('has the statement and its parameters as ClickHouse reads them', async () => {
  const params = {
    text: "it's \\ a\ttab\r\n\0é😀",
    list: ["p'q", ''],
    pairs: [['a', 1]],
    none: null,
    n: 1.5,
    yes: true,
  }
  expect(await fieldsOf(queryForm('SELECT {text:String}', params))).toEqual([
    ['query', 'SELECT {text:String}'],
    ['param_text', String.raw`it\'s \\ a\ttab\r\n\0é😀`],
    ['param_list', String.raw`['p\'q','']`],
    ['param_pairs', "[['a',1]]"],
    ['param_none', String.raw`\N`],
    ['param_n', '1.5'],
    ['param_yes', '1'],
  ])
})

it('sends a long list in several fields, and the statement makes one list of them', async () => {
  const ids = Array.from({ length: 20_000 }, (_, i) => `id ${i} é`)
  const [query, ...fields] = await fieldsOf(
    queryForm('SELECT x WHERE a IN {ids:Array(String)} OR has({ids:Array(String)}, b)', { ids }),
  )
  const lists = fields.map(([name]) => `{${name.slice('param_'.length)}:Array(String)}`)
  expect(lists.length).toBeGreaterThan(1)
  const whole = `arrayConcat(${lists.join(', ')})`
  expect(query).toEqual(['query', `SELECT x WHERE a IN ${whole} OR has(${whole}, b)`])
  const sent = fields.flatMap(([, text]) => JSON.parse(String(text).replaceAll("'", '"')) as string[])
  expect(sent).toEqual(ids)
  for (const [, text] of fields) expect(Buffer.byteLength(String(text))).toBeLessThanOrEqual(MAX_FIELD_BYTES)
})

it('sends a long statement in several fields, and cuts no character', async () => {
  const sql = `SELECT '${'é😀'.repeat(60_000)}'`
  const fields = await fieldsOf(queryForm(sql, {}))
  expect(fields.length).toBeGreaterThan(1)
  expect(fields.map(([, text]) => text).join('')).toBe(sql)
  for (const [name, text] of fields) {
    expect(name).toBe('query')
    expect(Buffer.byteLength(String(text))).toBeLessThanOrEqual(MAX_FIELD_BYTES)
  }
})

it('refuses a text that fits into no field, and values that are no parameters', () => {
  expect(() => queryForm('SELECT 1', { text: 'x'.repeat(MAX_FIELD_BYTES + 1) })).toThrow(RangeError)
  expect(() => queryForm('SELECT 1', { list: ['x'.repeat(MAX_FIELD_BYTES)] })).toThrow(RangeError)
  expect(() => queryForm('SELECT 1', { at: new Date() })).toThrow(TypeError)
})
